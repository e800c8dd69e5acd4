package host

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/writbus/writ/enforcement/query"
	"github.com/writbus/writ/schemas/lazyregexp"
	"github.com/writbus/writ/schemas/wordset"
)

var words = wordset.Of

// Words of tools' names. A name reads when, without the nouns it begins with, it
// begins with a verb of reading, or is one of the things that are only looked at,
// and no word of it writes.
var (
	leadingNouns = words(`mcp browser page console network take issue issues pull request git docker container containers compose kubectl helm pod pods
		node image images repo repository code web file files directory project projects db sql database table tables workspace document documents symbol symbols lsp job
		jobs workflow workflows actions user users team teams channel channels conversations thread threads event events error errors memory graph audit system server
		brave tavily exa google collection mobile api last storage performance json cluster host app apps build builds release releases deployment service services model models dataset datasets metrics nextjs package local remote resources resource namespaces configuration go to type heap full text multiple`)
	surely = words(`get list read search find show fetch describe lookup retrieve inspect grep`)
	reads  = words(`get list read search find grep query view show fetch describe stat status tree check count lookup resolve think analyze diff compare
		explain inspect introspect discover retrieve recall browse wait validate verify ls cat head tail is has poll preview summarize peek ping whoami`)
	lookedAt = words(`log logs hover definition definitions declaration references implementation implementations diagnostics symbols screenshot snapshot
		history messages requests info status version versions schema schemas docs documentation help outline overview tree diff hierarchy problems usages callers sequentialthinking details indexes blame context size stats usage routes`)
	wholeNames = words(`open_nodes ask_question start_search stop_search convert_time initial_instructions check_onboarding_performed read_query hget hgetall lrange smembers zrange scan_keys next_task tavily_extract scrape`)
	asksBySQL  = words(`execute_sql run_sql`) // they do what the statement says, which is read, where it is all they are given
	statedTo   = words(`database db schema catalog project branch region warehouse dialect connection limit max_rows timeout params parameters`)
	// writes are never part of a reading name.
	writes = words(`create write delete remove rename apply edit insert execute executes exec eval evaluate send put push replace deploy add append save modify patch mkdir
		touch truncate drop destroy kill terminate restart reboot click fill press drag publish clear reset revert restore rollback approve reject submit transition
		assign invite enable disable toggle unset lock unlock move copy clone fork checkout stash rebase cherry invoke trigger dispatch emit mark cancel mount register
		generate regenerate rebuild reindex refresh reload spawn launch boot init initialize configure provision seed migrate refactor organize inline uninstall overwrite transform mutate update_all upsert purge prune pop increment decrement`)
	// acts are things as often as deeds: after a verb of reading they are things.
	acts = words(`start stop run runs process processes shell terminal command commands action actions script post update updates set fix format import export install upload
		download upgrade sync scaffold vote commit merge schedule call record complete archive attach build compile tag close open interact out`)
	// thingsToo are verbs of reading that are things where a deed stands behind them.
	thingsToo = words(`preview status tree poll head tail`)
	filed     = words(`file files diff patch line lines text code symbol block folder directory`) // what an unknown tool of a host's changes by its name
	joins     = words(`and or then`)
	// resolved are things that are changed by being resolved.
	resolved = words(`thread threads issue issues conversation comment comments conflict conflicts incident alert review finding`)
	// filing are the words of tools whose only doing is to write the files that
	// they name.
	filing = words(`write edit create append delete remove move rename copy insert replace patch save truncate modify mkdir touch
		file files text new directory dir folder content contents line lines block blocks range string str regex symbol body in at after before to or and search path notebook cell project multiple by update`)
)

// Keys of an input, by what their values are.
var (
	commandNames = words(`command commands cmd cmdline command_line shell script scripts bash argv exec hook hooks pager editor executable binary interpreter entrypoint
		pre_command post_command pre_process post_process preprocessor callback on_complete on_success on_error external_diff ext_diff difftool`)
	codeNames  = words(`code expression function js javascript python snippet program source_code lambda page_function`)
	queryNames = words(`sql statement statements query queries cypher graphql q mutation pipeline aggregation`)
	// argumentNames hold what a program is given behind its name.
	argumentNames = words(`args arguments flags options opts params extra_args parameters revision rev ref refs range target base head commit branch resource selector path_spec pathspec`)
	deedNames     = words(`method http_method verb action operation op subcommand tool tool_name mode request_type request_method command_type`)
	offered       = words(`dry_run dryrun read_only readonly sandbox`)
	nothing       = words(`false no none off 0 never`)
	// sought may begin with whatever is looked for.
	sought        = words(`pattern patterns regex query queries q search search_term text term keyword keywords string content body thought prompt message`)
	folderNames   = words(`working_directory workdir working_dir cwd directory dir dir_path project_path`)
	besideCommand = words(`timeout timeout_ms timeout_seconds description title reason wait_ms verbose_timeout_ms max_lines_count truncate_mode max_answer_chars capture_stderr reuse_existing_terminal_window explanation`)
	databases     = words(`sql sqlite postgres postgresql pg psql mysql mariadb mssql sqlserver oracle duckdb clickhouse bigquery snowflake redshift athena db database dbhub neo4j
		cypher supabase neon turso libsql d1 graphql`)
	settings = words(`config configuration setting settings preference preferences permission permissions`)
	// captures are words of tools that keep what they look at in a file.
	captures  = words(`screenshot pdf snapshot trace tracing record recording har video dump heap profile attachment attachments artifact artifacts asset assets`)
	pathNames = words(`path file file_path filepath`)
	fetching  = words(`read get view show fetch open cat head tail retrieve list`)
	seekers   = words(`search find lookup resolve recall`)
	// ownTools are those of Writ's own server, which the daemon judges.
	ownTools = words(`query recall status propose advance_phase`)
)

// keyWords is a key or a name as its words, joined by underscores.
func keyWords(key string) string { return strings.Join(nameWords(key), "_") }

// unproven says why a call of a server's tool is not known to do no more than
// read, or than to write the files that it names, "" where it is, and what a yes to it
// holds for beyond the call: the tool, where its name is why, or the tool with the words
// that it was given under keys that no list has.
func (c *Call) unproven(name string, input map[string]json.RawMessage) (why, holds string) {
	if c.own(name) {
		return "", ""
	}
	tool := nameWords(name)
	in := argument{tool: tool, server: append(serverWords(name), nameWords(c.Server)...)}
	byName := !readingName(tool, in.server) && !(asksBySQL[strings.Join(tool, "_")] && statesAll(input))
	in.reads, in.host = !byName, !c.FromServer
	switch {
	case c.Shell != nil:
		folders := 0
		for key := range input {
			if folderNames[keyWords(key)] {
				folders++
			} else if !slices.Contains(commandKeys, key) && !besideCommand[keyWords(key)] {
				return "beside a command it is given " + key, ""
			}
		}
		if folders > 1 {
			return "it is given several folders", ""
		}
		return "", ""
	case len(c.Writes) > 0 && !slices.ContainsFunc(tool, func(w string) bool { return !filing[w] }) && !symbolWide(tool):
		in.files = true
		return in.of(input), ""
	case byName:
		if why = in.of(input); why != "" {
			return why, ""
		}
		return "its name does not say that it only reads", name
	}
	why = in.of(input)
	if odd, rest := in.odd(input); why != "" && len(odd) > 0 && in.of(rest) == "" && !namesPath(rest) {
		holds = name + " with " + strings.Join(odd, ", ")
	}
	return why, holds
}

// statesAll reports whether all that an input says is a statement, and what it is put to.
func statesAll(input map[string]json.RawMessage) bool {
	stated := false
	for key := range input {
		key = keyWords(key)
		stated = stated || queryNames[key]
		if !queryNames[key] && !statedTo[key] && !identity[key[strings.LastIndexByte(key, '_')+1:]] {
			return false
		}
	}
	return stated
}

// namesPath reports whether an input names what may be a file: a yes to a deed on one is
// none to the same on others.
func namesPath(input map[string]json.RawMessage) bool {
	for key, raw := range input {
		var value any
		_ = json.Unmarshal(raw, &value)
		text, is := value.(string)
		if has(keyWords(key), places) || is && aPath.MatchString(text) || len(pathsIn(nil, value, 0)) > 0 {
			return true
		}
	}
	return false
}

// symbolWide names tools that write more files than they name.
func symbolWide(tool []string) bool {
	return slices.Contains(tool, "symbol") && (slices.Contains(tool, "rename") || slices.Contains(tool, "move") || slices.Contains(tool, "delete") || slices.Contains(tool, "remove"))
}

// own reports whether a tool is one of Writ's own server.
func (c *Call) own(name string) bool {
	if server, mcp := strings.CutPrefix(name, "MCP:"); mcp {
		program, _, _ := strings.Cut(c.Server, " mcp")
		program = strings.TrimSuffix(strings.Trim(program[strings.LastIndexAny(program, `/\`)+1:], `"'`), ".exe")
		return ownTools[keyWords(server)] && (program == "writ" || c.Kind != BeforeTool)
	}
	if rest, is := strings.CutPrefix(strings.Replace(name, "writ-", "writ_", 1), "writ_"); is {
		return ownTools[rest]
	}
	server := strings.Join(serverWords(name), "_")
	return ownTools[keyWords(name)] && (server == "mcp_writ" || server == "mcp_plugin_writ_writ")
}

// serverWords are those of the server in a tool's name. Some hosts put it before
// the tool's own name with nothing to tell them apart.
func serverWords(name string) []string {
	if i := strings.LastIndex(name, "__"); i >= 0 {
		return nameWords(strings.ReplaceAll(name[:i], "__", " "))
	}
	all := nameWords(name)
	switch {
	case strings.HasPrefix(name, "MCP:") || len(all) < 2 || reads[all[0]] || writes[all[0]]:
		return nil
	case all[0] == "mcp":
		return all[:2]
	}
	return all[:1]
}

// readingName reports whether a tool's name says that it reads and does nothing
// else. Nouns may stand before its verb: up to three words, where the verb is one
// that is no thing as well.
func readingName(tool, server []string) bool {
	if i := slices.IndexFunc(tool, func(w string) bool { return reads[w] || acts[w] || joins[w] }); i > 0 && i < 4 && surely[tool[i]] {
		tool = slices.Concat(tool[i:], tool[:i])
	}
	for {
		if wholeNames[strings.Join(tool, "_")] {
			return true
		}
		if len(tool) < 2 || reads[tool[0]] || !leadingNouns[tool[0]] && !slices.Contains(server, tool[0]) {
			break
		}
		tool = tool[1:]
	}
	if len(tool) == 0 || some(tool, writes) {
		return false
	}
	if !reads[tool[0]] {
		return len(tool) == 1 && lookedAt[tool[0]]
	}
	if tool[0] == "resolve" && some(tool, resolved) {
		return false
	}
	if acted := tool[0] + " " + tool[min(1, len(tool)-1)]; thingsToo[tool[0]] && acts[tool[min(1, len(tool)-1)]] || acted == "check out" || acted == "check in" {
		return false
	}
	return !some(tool, acts) || !some(tool, joins)
}

// setting says that a tool changes what the host goes by.
func setting(name string, input map[string]json.RawMessage) bool {
	return (input["value"] != nil || input["values"] != nil) && has(keyWords(name), settings)
}

// has says that a word of a key is one of a set.
func has(key string, set map[string]bool) bool { return some(strings.Split(key, "_"), set) }

func some(list []string, set map[string]bool) bool {
	return slices.ContainsFunc(list, func(w string) bool { return set[w] })
}

// asks reports whether a query only reads. One for a database has to be one of
// reading; one that may as well be words to search for has to hold no statement
// that writes.
func (a argument) asks(key, text string) bool {
	if key != "query" && key != "queries" && key != "q" || some(slices.Concat(a.tool, a.server), databases) || strings.Join(a.tool, "_") == "read_query" {
		return query.Reads(text)
	}
	return slices.ContainsFunc(a.tool, func(w string) bool { return seekers[w] || w == "docs" || w == "documentation" }) || !writingStatement.MatchString(text)
}

var writingStatement = lazyregexp.New(`(?is)\b(?:insert\s+(?:into|or)|update\s+\S+\s+set|delete\s+from|drop\s+\w+|create\s+(?:or\s+replace\s+)?(?:temp\w*\s+|unique\s+|virtual\s+)?(?:table|view|index|trigger|function|database|schema|extension|user|role|procedure)|alter\s+\w+|truncate\s+\w+|replace\s+into|merge\s+into|copy\s*\(|copy\s+\S+\s+(?:to|from)|attach\s+|detach\s+\w|vacuum|load_extension\s*\(|writefile\s*\(|into\s+(?:out|dump)file|pragma\s+\w+\s*[=(]|grant\s+\w+\s+on|mutation\b[^{]*\{)|\$(?:out|merge)\b|^\s*\.`)

// pathsIn are the texts within an input that are, or may be, paths.
func pathsIn(found []string, value any, depth int) []string {
	if len(found) >= maxQueued || depth > maxDepth {
		return found
	}
	switch value := value.(type) {
	case string:
		if rest, is := strings.CutPrefix(value, "file:"); is {
			if plain, err := url.PathUnescape(rest); err == nil {
				rest = plain
			}
			value = "/" + strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(rest, "//localhost"), "//"), "/")
		}
		if strings.HasPrefix(value, "/") || strings.HasPrefix(value, "~") || strings.Contains(value, "../") {
			found = append(found, value)
		}
	case []any:
		for _, one := range value {
			found = pathsIn(found, one, depth+1)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			found = pathsIn(found, value[key], depth+1)
		}
	}
	return found
}
