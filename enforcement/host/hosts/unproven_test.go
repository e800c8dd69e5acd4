package hosts

import (
	"encoding/json"
	"testing"
)

// TestToolsOfServersThatAreNotKnownToRead is a table of tools as the servers name
// them. read passes while something is closed, name is asked for by its name, so
// that a yes holds for the tool, and given for what it is given. The rest, judged,
// is judged by the files or the command that it names.
func TestToolsOfServersThatAreNotKnownToRead(t *testing.T) {
	for _, c := range []struct{ tool, input, want string }{
		{"mcp__github__get_file_contents", `{"owner":"o","repo":"r","path":"/"}`, "read"},
		{"mcp__github__list_commits", `{"owner":"o","repo":"r","sha":"main"}`, "read"},
		{"mcp__github__search_code", `{"query":"delete from users repo:o/r"}`, "read"},
		{"mcp__github__pull_request_read", `{"method":"get_diff","owner":"o","repo":"r","pullNumber":1}`, "read"},
		{"mcp__github__issue_read", `{"method":"get_comments","issue_number":1}`, "read"},
		{"mcp__github__get_me", `{}`, "read"},
		{"mcp__github__create_or_update_file", `{"owner":"o","repo":"r","path":"src/a.go","content":"x"}`, "name"},
		{"mcp__github__merge_pull_request", `{"owner":"o","repo":"r"}`, "name"},
		{"mcp__github__push_files", `{"owner":"o","files":[{"path":"a","content":"x"}]}`, "name"},
		{"mcp__github__actions_list", `{"method":"list_workflow_runs"}`, "read"},
		{"mcp__github__issue_write", `{"method":"create"}`, "given"},
		{"mcp__filesystem__read_text_file", `{"path":"src/a.go","head":10}`, "read"},
		{"mcp__filesystem__read_multiple_files", `{"paths":["src/a.go"]}`, "read"},
		{"mcp__filesystem__directory_tree", `{"path":"."}`, "read"},
		{"mcp__filesystem__list_allowed_directories", `{}`, "read"},
		{"mcp__filesystem__search_files", `{"path":".","pattern":"*.go"}`, "read"},
		{"mcp__filesystem__write_file", `{"path":"src/a.go","content":"rm -rf /"}`, "judged"},
		{"mcp__filesystem__edit_file", `{"path":"src/a.go","edits":[{"oldText":"a","newText":"b"}]}`, "judged"},
		{"mcp__filesystem__move_file", `{"source":"a.go","destination":"b.go"}`, "judged"},
		{"mcp__playwright__browser_snapshot", `{}`, "read"},
		{"mcp__playwright__browser_take_screenshot", `{"filename":"shot.png","fullPage":true}`, "read"},
		{"mcp__playwright__browser_take_screenshot", `{"filename":"../src/main.go"}`, "given"},
		{"mcp__playwright__browser_console_messages", `{"onlyErrors":true}`, "read"},
		{"mcp__playwright__browser_network_requests", `{}`, "read"},
		{"mcp__playwright__browser_wait_for", `{"text":"done"}`, "read"},
		{"mcp__playwright__browser_click", `{"element":"approve","ref":"e1"}`, "name"},
		{"mcp__playwright__browser_evaluate", `{"function":"() => fetch('/x')"}`, "given"},
		{"mcp__playwright__browser_navigate", `{"url":"http://localhost:1"}`, "name"},
		{"mcp__puppeteer__puppeteer_screenshot", `{"name":"x","width":1}`, "read"},
		{"mcp__puppeteer__puppeteer_fill", `{"selector":"a","value":"b"}`, "name"},
		{"mcp__postgres__query", `{"sql":"SELECT id, count(*) FROM users WHERE name = 'delete' GROUP BY id"}`, "read"},
		{"mcp__postgres__query", `{"sql":"SELECT lo_export(1, '/p/src/a.go')"}`, "given"},
		{"mcp__postgres__query", `{"sql":"COPY t TO PROGRAM 'touch a'"}`, "given"},
		{"mcp__postgres__query", `{"sql":"WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x"}`, "given"},
		{"mcp__postgres__list_tables", `{"schema":"public"}`, "read"},
		{"mcp__sqlite__read_query", `{"query":"select * from notes where title like '%create%' limit 5"}`, "read"},
		{"mcp__sqlite__read_query", `{"query":"SELECT writefile('src/a.go', 'x')"}`, "given"},
		{"mcp__sqlite__read_query", `{"query":"SELECT load_extension('./x')"}`, "given"},
		{"mcp__sqlite__read_query", `{"query":".once src/a.go\nselect 1"}`, "given"},
		{"mcp__sqlite__read_query", `{"query":"ATTACH 'src/a.go' AS x"}`, "given"},
		{"mcp__sqlite__read_query", `{"query":"PRAGMA table_info(notes)"}`, "read"},
		{"mcp__sqlite__read_query", `{"query":"PRAGMA journal_mode=WAL"}`, "given"},
		{"mcp__sqlite__write_query", `{"query":"select 1"}`, "name"},
		{"mcp__sqlite__describe_table", `{"table_name":"notes"}`, "read"},
		{"mcp__mysql__mysql_query", `{"sql":"SELECT 1 INTO OUTFILE '/p/src/a.go'"}`, "given"},
		{"mcp__mysql__mysql_query", `{"sql":"SELECT 1 /*! INTO OUTFILE 'x' */"}`, "given"},
		{"mcp__mssql__query", `{"sql":"SELECT 1 EXEC xp_cmdshell 'touch a'"}`, "given"},
		{"mcp__graphql__query_graphql", `{"query":"query($n: Int) { viewer(first: $n) { login } }"}`, "read"},
		{"mcp__api__query", `{"query":"mutation { createIssue(input: {}) { id } }"}`, "given"},
		{"mcp__slack__slack_list_channels", `{"limit":10}`, "read"},
		{"mcp__slack__conversations_history", `{"channel_id":"C1"}`, "read"},
		{"mcp__slack__slack_post_message", `{"text":"x"}`, "name"},
		{"mcp__sentry__get_issue_details", `{"issueUrl":"https://x/1"}`, "read"},
		{"mcp__sentry__find_organizations", `{}`, "read"},
		{"mcp__sentry__whoami", `{}`, "read"},
		{"mcp__sentry__update_issue", `{"status":"resolved"}`, "name"},
		{"mcp__linear__list_issues", `{"query":"update the docs"}`, "read"},
		{"mcp__linear__create_comment", `{"body":"x"}`, "name"},
		{"mcp__context7__resolve-library-id", `{"libraryName":"react"}`, "read"},
		{"mcp__context7__query-docs", `{"libraryId":"/facebook/react","query":"create table in a hook"}`, "read"},
		{"mcp__serena__find_symbol", `{"name_path":"A/b","relative_path":"src/a.go","include_body":true}`, "read"},
		{"mcp__serena__get_symbols_overview", `{"relative_path":"src/a.go"}`, "read"},
		{"mcp__serena__search_for_pattern", `{"substring_pattern":"rm -rf"}`, "read"},
		{"mcp__serena__think_about_collected_information", `{}`, "read"},
		{"mcp__serena__rename_symbol", `{"relative_path":"tests/a_test.go","name_path":"A","new_name":"B"}`, "name"},
		{"mcp__serena__replace_symbol_body", `{"relative_path":"src/a.go","name_path":"A","body":"x"}`, "judged"},
		{"mcp__serena__execute_shell_command", `{"command":"ls","cwd":"."}`, "judged"},
		{"mcp__lsp__definition", `{"symbolName":"A"}`, "read"},
		{"mcp__lsp__hover", `{"filePath":"src/a.go","line":1}`, "read"},
		{"mcp__lsp__diagnostics", `{"filePath":"src/a.go"}`, "read"},
		{"mcp__lsp__rename_symbol", `{"filePath":"src/a.go","newName":"B"}`, "name"},
		{"mcp__lsp__code_actions", `{"filePath":"src/a.go","line":1}`, "name"},
		{"mcp__lsp__apply_code_action", `{"title":"x"}`, "name"},
		{"mcp__ide__getDiagnostics", `{"uri":"file:///p/a.go"}`, "read"},
		{"mcp__desktop-commander__start_process", `{"command":"touch src/a.go","timeout_ms":1000}`, "judged"},
		{"mcp__desktop-commander__start_process", `{"command":"ls","shell":"/tmp/evil"}`, "given"},
		{"mcp__desktop-commander__start_process", `{"command":"env","args":["touch","src/a.go"]}`, "given"},
		{"mcp__desktop-commander__interact_with_process", `{"pid":1,"input":"touch src/a.go"}`, "name"},
		{"mcp__desktop-commander__read_process_output", `{"pid":1}`, "read"},
		{"mcp__desktop-commander__list_processes", `{}`, "read"},
		{"mcp__desktop-commander__set_config_value", `{"key":"a","value":"b"}`, "name"},
		{"mcp__jetbrains__create_new_file", `{"pathInProject":"src/a.go","text":"x"}`, "judged"},
		{"mcp__jetbrains__create_new_file_with_text", `{"where":"src/a.go","text":"x"}`, "given"},
		{"mcp__jetbrains__get_file_text_by_path", `{"pathInProject":"src/a.go"}`, "read"},
		{"mcp__jetbrains__get_run_configurations", `{}`, "read"},
		{"mcp__jetbrains__execute_run_configuration", `{"configurationName":"x"}`, "name"},
		{"mcp__jetbrains__reformat_file", `{"path":"src/a.go"}`, "name"},
		{"mcp__jetbrains__search_in_files_by_text", `{"searchText":"x"}`, "read"},
		{"mcp__docker__list-containers", `{}`, "read"},
		{"mcp__docker__get-logs", `{"container_name":"x"}`, "read"},
		{"mcp__docker__run-container", `{"image":"x","volumes":{"/p":"/p"}}`, "given"},
		{"mcp__docker__docker", `{"args":["run","-v","/p:/p"]}`, "name"},
		{"mcp__kubernetes__kubectl_get", `{"resourceType":"pods","output":"json"}`, "read"},
		{"mcp__kubernetes__pods_list", `{}`, "read"},
		{"mcp__kubernetes__kubectl_apply", `{"manifest":"x"}`, "name"},
		{"mcp__memory__search_nodes", `{"query":"update users set x"}`, "read"},
		{"mcp__memory__open_nodes", `{"names":["a"]}`, "read"},
		{"mcp__memory__create_entities", `{"entities":[]}`, "name"},
		{"mcp__fetch__fetch", `{"url":"https://x","max_length":5}`, "read"},
		{"mcp__http__fetch", `{"url":"https://x","method":"POST"}`, "given"},
		{"mcp__x__get_report", `{"output_path":"src/a.go"}`, "given"},
		{"mcp__x__generate_report", `{"output_path":"src/a.go"}`, "given"}, // whoever let the tool run, let no file be written
		{"mcp__x__generate_report", `{"output_path":"none","file_path":"src/a.go"}`, "name"},
		{"mcp__x__check_style", `{"fix":true}`, "given"},
		{"mcp__x__get", `{"args":"{\"command\":\"touch a\"}"}`, "given"},
		{"mcp__x__read_and_run", `{}`, "name"},
		{"mcp__x__write_file", `{"path":"plan.md","content":"x","command":"touch src/a.go"}`, "given"},
		{"mcp__x__start", `{"path":"plan.md","content":"x"}`, "name"},
		{"mcp__x__start_process", `{"command":["sh","-c","touch src/a.go"]}`, "judged"},
		{"mcp__x__start_process", `{"command":"touch src/a.go","replace_all":"yes","edits":1}`, "given"},
		{"mcp__x__refresh", `{"path":["src/a.go"]}`, "name"},
		{"mcp__x__refresh", `["src/a.go"]`, "given"},
		{"mcp__x__refresh", `{"replace_all":1}`, "name"},
		{"mcp__writ__propose", `{"text":"x"}`, "read"},
		{"mcp__plugin_writ_writ__advance_phase", `{"gate":"plan"}`, "read"},
		{"mcp__writs__advance_phase", `{"gate":"plan"}`, "name"},
		// What a reading tool is given has a program write, or run another one.
		{"mcp__duck__query", `{"q":"copy (select 1) to 'x.go'"}`, "given"},
		{"mcp__git__git_show", `{"revision":"--output=main.go"}`, "given"},
		{"mcp__git__git_log", `{"args":["-1","--output","main.go"]}`, "given"},
		{"mcp__git__git_diff", `{"target":"HEAD --ext-diff"}`, "given"},
		{"mcp__git__git_grep", `{"args":"-O vim alpha"}`, "given"},
		{"mcp__rg__search", `{"pattern":"a","flags":["--pre=./x"]}`, "given"},
		{"mcp__k8s__kubectl_get", `{"args":"pods; touch x.go"}`, "given"},
		{"mcp__k8s__kubectl_get", `{"args":"pods --kube-config-file x"}`, "given"},
		{"mcp__puppeteer__puppeteer_screenshot", `{"name":"home","path":"main.go"}`, "given"},
		{"mcp__ast__search", `{"pattern":"a","rewrite":"b"}`, "given"},
		{"mcp__x__search", `{"query":"x","hook":"touch x.go"}`, "given"},
		{"mcp__x__view", `{"pager":"touch x.go"}`, "given"},
		{"mcp__x__status", `{"editor":"vim"}`, "given"},
		{"mcp__x__list", `{"options":"$(touch x.go)"}`, "given"},
		{"mcp__git__git_log", `{"args":["--oneline","-5","--no-pager","--pretty=format:%h","--stat"]}`, "read"},
		{"mcp__git__git_diff", `{"target":"HEAD~1","range":"main..other"}`, "read"},
		{"mcp__k8s__kubectl_get", `{"args":"pods -n default -o json --request-timeout=3s"}`, "read"},
		{"mcp__gh__search_code", `{"query":"--output=main.go; touch"}`, "read"},
		{"mcp__prom__query", `{"query":"rate(x[5m]) > 0"}`, "read"},
		{"mcp__puppeteer__puppeteer_screenshot", `{"name":"home","path":"home.png"}`, "read"},
		// Tools of the host's own that no table knows yet.
		{"ApplyDiff", `{"diff":"--- a/main.go"}`, "given"},
		{"InsertLines", `{"file":"main.go","line":1,"text":"x"}`, "judged"},
		{"LSP", `{"operation":"rename","filePath":"main.go"}`, "given"},
		{"LSP", `{"operation":"hover","filePath":"main.go"}`, "read"},
		{"EnterWorktree", `{"name":"x"}`, "read"},
		{"CronDelete", `{"id":"x"}`, "read"},
		{"mcp__figma__get_design_context", `{"dirForAssetWrites":"src"}`, "given"},
		{"mcp__x__get_assets", `{"downloadDir":"src"}`, "given"},
		{"mcp__x__get_assets", `{"storeIn":"src"}`, "given"},
		{"mcp__x__get_assets", `{"export_to":"src/a"}`, "given"},
		{"mcp__x__get_assets", `{"dump_path":"src/a"}`, "given"},
		{"mcp__x__get_assets", `{"into":"src/a"}`, "given"},
		{"mcp__x__get_assets", `{"options":{"persist":true}}`, "given"},
		{"mcp__x__get_lines", `{"output_mode":"count","log_level":"info","download_count":3,"file":"a.go","to":"2026-01-01"}`, "read"},
		{"mcp__shell__run_command", `{"command":"git status","cwd":"x","workdir":"y"}`, "given"},
		{"mcp__shell__run_command", `{"command":"git status","cwd":"x"}`, "judged"},
		{"Config", `{"setting":"permissions.defaultMode","value":"bypassPermissions"}`, "given"},
		{"UpdateSettings", `{"key":"x","value":true}`, "given"},
		{"Config", `{"setting":"theme"}`, "read"},
		{"mcp__Claude_Preview__preview_start", `{"name":"dev"}`, "name"},
		{"mcp__Claude_Preview__preview_logs", `{"serverId":"x"}`, "read"},
		{"mcp__x__status_update", `{"text":"x"}`, "name"},
		{"mcp__x__check_out_branch", `{"branch":"x"}`, "name"},
		{"mcp__x__check_process_status", `{"pid":1}`, "read"},
		{"mcp__x__validate_and_upgrade", `{}`, "name"},
		{"mcp__x__poll_and_sync", `{}`, "name"},
		{"mcp__x__poll_vote", `{"choice":1}`, "name"},
		{"mcp__x__tail_stop", `{}`, "name"},
		{"mcp__x__list_pop", `{}`, "name"},
		{"mcp__x__check_upgrade", `{"package":"x"}`, "read"},
		{"mcp__x__read_file", `{"path":"a.go","content":"x"}`, "given"},
		{"mcp__x__get_embedding", `{"content":"x"}`, "read"},
		{"mcp__x__get_report", `{"artifactDirectory":"src"}`, "given"},
		{"mcp__x__cat", `{"path":"a.go","to":"src/b.go"}`, "given"},
		{"mcp__x__compare_files", `{"file":"a.go","to":"b.go"}`, "read"},
		{"mcp__x__cat", `{"path":"a > src/b.go"}`, "given"},
		{"mcp__x__tree", `{"path":"$(touch a)"}`, "given"},
		{"mcp__x__cat", `{"path":"R&D (1) [id].md"}`, "read"},
		{"mcp__x__search", `{"pattern":"x","path":"--pre=./x"}`, "given"},
		{"mcp__x__search", `{"substring_pattern":"--pre=./x"}`, "read"},
		{"mcp__git__git_log", `{"author":"--output=src/a.go"}`, "given"},
		{"mcp__git__git_log", `{"extraArgs":["--outpu=src/a.go"]}`, "given"},
		{"mcp__git__get_status", `{"args":["-c","core.fsmonitor=touch a"]}`, "given"},
		{"mcp__git__git_log", `{"args":["--oneline","-5"]}`, "read"},
		{"mcp__x__check_format", `{"flags":"-w"}`, "given"},
		{"mcp__x__find", `{"expression":"-delete"}`, "given"},
		{"mcp__x__check", `{"fix":"true"}`, "given"},
		{"mcp__x__check", `{"fix":1}`, "given"},
		{"mcp__x__check", `{"fix":"none"}`, "read"},
		{"mcp__x__list_items", `{"dry_run":false}`, "given"},
		{"mcp__x__list_items", `{"then":"delete"}`, "given"},
		{"mcp__x__list_items", `{"env":{"LD_PRELOAD":"x"}}`, "given"},
		{"mcp__x__list_items", `{"env":"prod"}`, "read"},
		{"mcp__x__list_items", `{"onComplete":"touch a.go"}`, "given"},
		{"mcp__postgres__query", `{"text":"DROP TABLE x"}`, "given"},
		{"mcp__postgres__query", `{"sql":"WITH lo_export AS (SELECT 1) SELECT lo_export(1, 'src/a.go')"}`, "given"},
		{"mcp__postgres__query", `{"sql":"WITH RECURSIVE t(n) AS (SELECT 1) SELECT n FROM t"}`, "read"},
		{"mcp__think__think", `{"thought":"we drop table x"}`, "read"},
		{"mcp__supabase__execute_sql", `{"project_id":"p","query":"select a from b"}`, "read"},
		{"mcp__supabase__execute_sql", `{"project_id":"p","query":"select f(a) from b"}`, "given"},
		{"mcp__x__run_sql", `{"query":"drop table b"}`, "given"},
		{"mcp__x__run_sql", `{"text":"update b set a = 1"}`, "given"},
		{"mcp__x__run_sql", `{"query":"select a from b","database":"d","limit":5,"params":[1]}`, "read"},
		{"mcp__x__run_sql", `{}`, "name"}, // what it does is said by what is not read
		{"mcp__x__run_sql", `{"path":"migrations/1.sql"}`, "name"},
		{"mcp__x__run_sql", `{"uri":"file:///p/a.sql"}`, "name"},
		{"mcp__x__run_sql", `{"query_id":"5"}`, "name"},
		{"mcp__x__run_sql", `{"query":"select 1","text":"call p"}`, "name"},
	} {
		payload, err := json.Marshal(map[string]any{
			"session_id": "s", "cwd": "/p", "tool_name": c.tool, "tool_use_id": "t", "tool_input": json.RawMessage(c.input),
		})
		if err != nil {
			t.Fatal(err)
		}
		call, err := Parse("claude", "PreToolUse", payload)
		got := "read"
		switch {
		case err != nil:
			got = err.Error()
		case call.Holds == c.tool:
			got = "name"
		case call.Unproven != "":
			got = "given"
		case len(call.Writes) > 0 || call.Shell != nil:
			got = "judged"
		}
		if got != c.want {
			t.Errorf("%s %s: %s (%s), want %s", c.tool, c.input, got, call.Unproven, c.want)
		}
	}
}

// TestACommandOfAServerIsJudgedInItsFolder: by whatever key the folder is named.
func TestACommandOfAServerIsJudgedInItsFolder(t *testing.T) {
	for _, key := range []string{"cwd", "workdir", "working_dir", "workingDirectory", "dir", "project_path"} {
		call, err := Parse("claude", "PreToolUse", []byte(`{"session_id":"s","cwd":"/p","tool_name":"mcp__shell__run_command","tool_use_id":"t","tool_input":{"command":"git status","`+key+`":"/tmp/laid"}}`))
		if err != nil || call.Shell == nil || call.Dir != "/tmp/laid" {
			t.Errorf("%s: %q, %v", key, call.Dir, err)
		}
	}
}

// TestAYesHoldsForTheWordsAToolWasGiven: a reading tool that is given a plain word under
// a key that no list has is asked for once; what else it is given is judged each time.
func TestAYesHoldsForTheWordsAToolWasGiven(t *testing.T) {
	const tool = "mcp__docs__get_page"
	for input, want := range map[string]string{
		`{"id":"a","fidelity":"high"}`:             tool + " with fidelity=high",
		`{"id":"b","fidelity":"high"}`:             tool + " with fidelity=high",
		`{"id":"a","fidelity":"high","zest":true}`: tool + " with fidelity=high, zest=true",
		`{"id":"a"}`:                                       "",
		`{"fidelity":"high","command":"ls"}`:               "",
		`{"fidelity":"high","then":"delete"}`:              "",
		`{"fidelity":"high","out_file":"x"}`:               "",
		`{"fidelity":"src/a.go"}`:                          "",
		`{"id":"a","dest":"Makefile"}`:                     "",
		`{"id":"a","save_to":"src"}`:                       "",
		`{"fidelity":"a.go"}`:                              "",
		`{"fidelity":"delete_all"}`:                        "",
		`{"delete":true}`:                                  "",
		`{"zest":{"run":"x"}}`:                             "",
		`{"fidelity":"high","sql":"drop table x"}`:         "",
		`{"fidelity":"high, zest=true","zest":"a"}`:        "",
		`{"fidelity":"high","args":["--output=src/a.go"]}`: "",
		`{"path":"src/a.go","rewrite":true}`:               "", // the next path is another
		`{"items":["/p/a.go"],"rewrite":true}`:             "",
	} {
		call, err := Parse("claude", "PreToolUse", []byte(`{"session_id":"s","cwd":"/p","tool_name":"`+tool+`","tool_use_id":"t","tool_input":`+input+`}`))
		if err != nil || call.Holds != want || (want != "") && call.Unproven == "" {
			t.Errorf("%s: %q (%s), want %q, %v", input, call.Holds, call.Unproven, want, err)
		}
	}
}
