package shell

import (
	"bufio"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestPlainLinesAreAFewSimpleForms(t *testing.T) {
	for _, line := range []string{
		"cd src", "cd src && ls -la", "git status", "git log --oneline -5", "grep -rn 'a > b' src | head -5", `grep -rn "TODO: x" src`,
		"cat a.txt; wc -l a.txt", "find . -name '*.go' -type f", "git diff HEAD~1 -- src/main.go", "ls || true", "  ls  ", "ls;", "writ mode set work", "sort -rn --key=2 a.txt",
		"docker ps -a | head -3", "docker compose ps", "kubectl get pods -o json | jq .items", "gh pr view 1", "tmux ls", "crontab -l", "aws s3 ls", "screen -ls",
		"grep -rn x src", "date +%F", "date -d yesterday", "file -b --mime-type a", "jq -r .a b.json", "cut -d/ -f2 a", "kubectl get pods -l app=x", "rg -n x", "tmux display-message -p '#{session_name}'",
		"cat a | sort -rn -", "git branch -avv --sort=-committerdate", "git tag -n3 --list 'v*'", "git remote -v", "git reflog -3", "git show --stat --oneline HEAD", "git grep -nE 'a|b' -- src",
		"find . -type f -size -10k -newer a", "tree -aL 2 -I node_modules", "systemctl status --no-pager -n 20 x", "tmux capture-pane -pt x -S -100", "gh run view 1 --log-failed", "jq -rc --arg a b . c",
		"rg -nC3 --glob '*.go' x", "find . -mtime -7 -not -path './.git/*'", "podman ps -a --format json", "docker logs --tail 5 x", "docker images -q", "kubectl get pods -A -ojson", "kubectl logs -p x --tail=5", "helm list -A", "helm history x --max 3",
		"git --no-pager log -5", "systemctl --failed --no-pager", "systemctl --user --no-pager status x", "kubectl get pods --output=json", "helm status x --output yaml", "git remote get-url --all x", "git diff --no-ext-diff --shortstat",
		"git rev-list --objects HEAD", "git diff-tree --no-commit-id --name-only -r HEAD", "find . -perm -u+x", "rg --max-filesize 1M x",
		"systemctl --user", "systemctl -a --no-pager", "systemctl --user --state=failed list-units", "hostnamectl --json=short", "loginctl", "busctl", "timedatectl show -p NTP", "docker container ls -a",
		"ss -tlnp", "lsof -i :3000", "lsof -ti:3000", "lsof -nP -iTCP:3000 -sTCP:LISTEN", "netstat -tlnp | grep 3000", "aws configure list --profile x", "dmesg -T | tail -5",
	} {
		if strings.Contains(line, "~") != !Plain(line) {
			t.Errorf("%q: %v", line, Plain(line))
		}
	}
	for _, line := range []string{
		"", " ", ";", "ls &", "ls & ls", "ls |& cat", "ls ;; ls", "ls | ", "ls &&", "| ls", "ls > x", "ls 2>&1", "cat <<E\nx\nE", "ls\nls", "ls\\\nls", "ls\tx", "ls\r",
		"x=1 ls", "x=1", "ls $x", `ls "$x"`, "ls `x`", "ls *", "ls ~", "ls {a,b}", "ls a\\ b", `ls "a\b"`, `ls "!x"`, "ls 'a", `ls "a`, "'ls' x", `"ls"`,
		"if ls", "time ls", "! ls", "- ls", "exec ls", "command ls", "touch x", "rm x", "python3 x", "evilbin/ls", "./ls", "=ls", "%1", "ls =ls", `ls ""=ls`, "ls ''=ls", "git", "git push", "git stash",
		"(ls)", "{ ls", "[ x ]", "[[ x ]]", "ls #x", "ls ^x", "ls a^b", "ls é", "ls 'é'", "ls 'a\nb'", "printf -v PATH x", "alias", "awk 1", "sed p", "sort --compress-program=x a", "sort --co=x a", "env ls", "xargs ls",
		"docker", "docker run x", "docker exec c ls", "./docker ps", "gh pr create", "gh", "kubectl exec p", "tmux", "tmux send-keys x", "crontab x", "crontab",
		"date -f/x/y", "date -f x", "date -us 1", "date --set=1", "date 010100002020", "file -fx", "file -bm x y", "file --files-from x", "grep -R x .", "grep -rniR x", "egrep --dereference-recursive x", "grep -f/x/y a",
		"jq -nf a", "jq -L . .", "jq 'import \"a\" as $x; $x' b", "jq 'include \"a\"; .' b", "kubectl get -f a,b", "kubectl get -ka", "rg -L x", "rg -nz x", "rg --follow x", "diff -r a b", "git ls-files -X/x/y",
		"aws ec2 describe-images --filters file://x", "strings @plan.md", "ls | strings -n 3 @a", "test 'a[$(x)]' -eq 1", "test x -o 'a[1]' -eq 1", "test -t PATH=1",
		"cd a b", "cd -", "cd +1", "cd -P x", "az vm list -o=@a", "git log '--format=%h %G?'", "git show -s --pretty=%+GG", "git tag '--format=%(signature:key)'", "git --no-pager push",
		"systemctl --no-pager stop x", "git --no-pager branch -v --del x", "git --user log", "kubectl --user x get pods",
		"kubectl get pods -o jsonpath-file=a", "kubectl get pods -ogo-template-file=a", "kubectl get pods --template=a", "az account show --query @a",
		"docker compose config", "docker compose -f a.yml ps", "docker compose --env-file a ps", "docker compose",
		"podman info --runtime evilbin/crun", "podman ps --conmon=evil", "podman ps --root src", "podman ps --storage-opt mount_program=evil", "nerdctl ps --data-root src", "kubectl get pods --profile=cpu --profile_output=a",
		"kubectl get pods --cache_dir=a", "kubectl get -Af a", "helm list --repository-config a", "sort -T src a", "sort -rnT src a",
		"git grep -nO'touch x;:' main", "git grep -nOtouch main", "git branch -v --del x", "git branch --all -C x y", "git branch -v --mov x y", "git branch -vu main x",
		"git branch --edit", "git branch -q --unknown", "git log --unknown", "git tag --unknown", "git remote --unknown", "git cat-file --filters HEAD:a", "git reflog --unknown",
		"systemctl status --root=x", "systemctl show --image=x", "busctl list --a=x", "tmux display-message -I -p", "tmux capture-pane -b x -p", "screen -ls -wipe", "screen -ls -X stuff x",
		"crontab -l -e", "crontab -l -T x", "docker-compose ps --file x", "lxc list --config x", "gh pr view --unknown", "find . -rm", "find . -exec cat '{}' +", "find -D exec .",
		"find . -fprint x", "tree --output=x", "tree -Jo x", "rg --unknown x", "jq --from-f x", "strings --plugin=x y", "strings -T x y", "file --unknown x", "date --unknown",
		"timedatectl -p show set-timezone UTC", "timedatectl --property status set-time x", "hostnamectl --json status set-hostname x", "loginctl -p list-sessions kill-user x",
		"docker container --filter ls rm x", "docker system --format df prune", "docker network rm x", "systemctl --host=x", "systemctl --root=x", "systemctl --state status stop x",
		"ss -K", "ss -D a", "ss -tFa", "ss -taN x", "lsof -D u", "lsof -kx", "lsof -r", "netstat --unknown", "dmesg -C", "dmesg --console-off", "dmesg -TD",
		strings.Repeat("a", maxPlainLine) + " b",
	} {
		if Plain(line) {
			t.Errorf("%q is taken for a plain line", line)
		}
	}
}

func TestDoubtfulForms(t *testing.T) {
	for _, line := range []string{
		"cat <<EF\nx\nE\\\nF\ntouch x\nEF\n", "x=$(cat <<E\nx\nE)\ntouch x\nE\n)", "x=`cat <<E\nx\nE`\ntouch x\nE\n", "cat <<E\r\nx\nE\r\n",
		"cat <<E\n${x:-'}\nE\ntouch x\ncat <<E\n'}\nE\n", "cat <<\\E\nE\n", "cat <<E'F'\nEF\n", "ls\rx", "ls \x1b[0m",
	} {
		if !Doubtful(line) {
			t.Errorf("%q is not doubtful", line)
		}
	}
	for _, line := range []string{
		"ls", "cat > plan.md <<'EOF'\n# Plan\n${x}\nEOF", "cat <<EOF\na\nEOF\n", "git commit -m \"$(cat <<'EOF'\nfeat: x\nEOF\n)\"", "cat <<< \"$x\"", "cat <<-E\n\tx\n\tE\n",
	} {
		if Doubtful(line) {
			t.Errorf("%q is doubtful", line)
		}
	}
}

// plainSeeds are lines whose mutants are compared.
var plainSeeds = []string{
	"cd src && ls -la", "grep -rn 'a > b' src | head -5", `grep "x y" a; wc -l b || true`, "a'b'c\"d\" e", "a ''", `a "" b`, "a:b=c,d@e%f+g", "a;b", "a  ;  b ;", "a -- -x", "time a",
	"a|b|c", "a&&b", "a 'x;y&&z|w'", "coproc a", "a =b", "a b=c", "- a", "a \\x", "export a=b", "@a %b", "a,b .c /d", "a:b c::d", "-a b", "a ~ b", "a -1 +2", "0 1 2", "a '\"' \"'\"", "a=b=c d",
}

// FuzzPlainWords compares how a plain line is split with how bash, and zsh where
// there is one, split it.
func FuzzPlainWords(f *testing.F) {
	for _, seed := range plainSeeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) { shellsAgree(t, []string{line}) })
}

// TestPlainLinesAreSplitAsShellsSplitThem is the same for mutants of the seeds, many of
// them to each start of a shell. WRIT_PLAIN_LINES says how many lines are made.
func TestPlainLinesAreSplitAsShellsSplitThem(t *testing.T) {
	number := 2000
	if more := os.Getenv("WRIT_PLAIN_LINES"); more != "" {
		var err error
		if number, err = strconv.Atoi(more); err != nil {
			t.Fatal(err)
		}
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	made := 0
	for compared := 0; compared < number; {
		var lines []string
		for ; len(lines) < 1000; made++ {
			if line := mutant(random); len(line) < 400 {
				if _, plain := PlainWords(line); plain {
					lines = append(lines, line)
				}
			}
		}
		compared += shellsAgree(t, lines)
	}
	t.Logf("%d plain lines, of %d made, were compared; seed %d", number, made, seed)
}

// mutant is a line made of pieces that a shell may take for more than letters.
func mutant(random *rand.Rand) string {
	pieces := []string{
		" ", " ", " ", "a", "b", "-", "--", "=", "%", "@", ":", ",", ".", "..", "/", "+", "_", "0", "1", "''", `""`, "'a b'", `"a b"`, "';'", `"|"`, "'$x'", "'`'", "'\\'", `"'"`, `'"'`,
		" && ", " || ", "; ", " | ", "&&", "||", ";", "|", "'!x'", "'#'", "'*'", "'~'", "'{a,b}'", "\"{a,b}\"", "\"*\"", "\"#\"", "\"~\"", "'<'", "\">\"", "'('", "\")\"", "\"[a]\"", "'^'", "\"?\"",
		"~", "!", "#", "*", "?", "[", "]", "{", "}", "(", ")", "<", ">", "$", "`", "\\", "&", "^", "\t", "\r", "\n", "\x00", "\x7f", "\u00a0", "é", "\x80",
		"if", "then", "fi", "do", "done", "time", "in", "for", "case", "coproc", "repeat", "function", "select", "end", "nocorrect", "noglob", "builtin", "exec", "command", "foreach", "x=", "a=b", "a+=b", "-x", "--y=z", "=ls", "%1", "2", "10",
	}
	line := []byte(plainSeeds[random.IntN(len(plainSeeds))])
	for range random.IntN(8) {
		at := random.IntN(len(line) + 1)
		to := min(at+random.IntN(4)*random.IntN(2), len(line))
		piece := pieces[random.IntN(len(pieces))]
		if random.IntN(3) > 0 { // most stay plain
			piece = pieces[random.IntN(52)]
		}
		line = slices.Concat(line[:at], []byte(piece), line[to:])
	}
	return string(line)
}

// shellsAgree compares how lines are split that are read as plain, and says how many
// those are.
func shellsAgree(t *testing.T, lines []string) (plain int) {
	t.Helper()
	var read [][][]string
	var script strings.Builder
	functions := map[string]bool{}
	for _, line := range lines {
		commands, ok := PlainWords(line)
		if !ok {
			continue
		}
		read = append(read, commands)
		begin, end := "", ""
		for _, words := range commands {
			if decides(words) { // it may end its shell, or change it
				begin, end = "( ", " )"
			} else if !functions[words[0]] && words[0][0] != '-' { // a function needs no process
				functions[words[0]] = true
				script.WriteString("function " + words[0] + " { say__ " + words[0] + " \"$@\"; }\n")
			}
		}
		// Both ways it ends are tried, so that each side of && and || is reached.
		for _, status := range []string{"0", "1"}[:1+min(1, strings.Count(line, "&&")+strings.Count(line, "||"))] {
			script.WriteString("status__=" + status + "\n" + begin + "{ " + line + "\n}" + end + "\n")
		}
		script.WriteString("printf '\\035' >&3\n")
	}
	if len(read) == 0 {
		return 0
	}
	for _, name := range []string{"bash", "zsh"} {
		if _, err := exec.LookPath(name); err != nil {
			continue
		}
		for i, said := range fed(t, name).run(t, script.String(), len(read)) {
			compareSplit(t, name, read[i], strings.Split(said, "\036"))
		}
	}
	return len(read)
}

// fedShell is a shell that lives on, and reads one file of commands after the other: a
// start takes longer than hundreds of lines.
type fedShell struct {
	name string
	in   io.Writer
	out  *bufio.Reader
}

var fedShells = map[string]*fedShell{}

// fed is the shell of a name, started where there is none.
func fed(t *testing.T, name string) *fedShell {
	t.Helper()
	if s := fedShells[name]; s != nil {
		return s
	}
	cmd := exec.Command(name)
	in, err := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if err := errors.Join(err, errOut); err != nil {
		t.Fatal(err)
	}
	// No program is found, so that each command's words come to the handler.
	_, err = io.WriteString(in, "PATH=/nowhere\nsay__() { local IFS=$'\\037'; printf '%s\\037\\036' \"$*\" >&3; return $status__; }\n"+
		"command_not_found_handle() { say__ \"$@\"; }\ncommand_not_found_handler() { say__ \"$@\"; }\n")
	if err := errors.Join(err, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	s := &fedShell{name, in, bufio.NewReaderSize(out, 1<<16)}
	fedShells[name] = s
	return s
}

// run has the shell read a script, and returns what it said up to each of its marks.
func (s *fedShell) run(t *testing.T, script string, marks int) (said []string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "lines")
	err := os.WriteFile(file, []byte(script), 0o600)
	if err == nil {
		_, err = io.WriteString(s.in, ". "+file+" 3>&1 >/dev/null 2>/dev/null </dev/null; printf '\\034\\035'\n")
	}
	for err == nil {
		var text string
		if text, err = s.out.ReadString('\035'); text == "\034\035" {
			break
		}
		said = append(said, strings.TrimSuffix(text, "\035"))
	}
	if err != nil || len(said) != marks {
		delete(fedShells, s.name)
		t.Fatalf("%s ran %d of %d lines (%v): %q", s.name, len(said), marks, err, script)
	}
	return said
}

// compareSplit compares the commands of a line with what a shell ran of it.
func compareSplit(t *testing.T, name string, commands [][]string, got []string) {
	t.Helper()
	for _, said := range got {
		if said != "" && !slices.ContainsFunc(commands, func(words []string) bool { return strings.Join(words, "\037")+"\037" == said }) {
			t.Errorf("%s runs %q of what is read as %q", name, said, commands)
		}
	}
	if slices.ContainsFunc(commands, decides) {
		return
	}
	for _, words := range commands {
		if said := strings.Join(words, "\037") + "\037"; !slices.Contains(got, said) {
			t.Errorf("%s does not run %q of %q but %q", name, words, commands, got)
		}
	}
}

// decides reports a command that may end a line, or decide what is run of it.
func decides(words []string) bool { return builtin[words[0]] || strings.Contains(words[0], "/") }

// builtin are the names that a shell runs without looking for a program.
var builtin = setOf(`. : [ alias autoload bg bind bindkey break builtin bye caller cap cd chdir clone command compadd comparguments
	compcall compctl compdescribe compfiles compgen compgroups complete compopt compquote compset comptags comptry compvalues continue
	declare dirs disable disown echo echotc echoti emulate enable eval exec exit export false fc fg float functions getcap getln getopts
	hash help histed history integer jobs kill let limit local log logout mapfile popd print printf pushd pushln pwd read readarray readonly rehash
	r return sched set setcap setopt shift shopt source stat suspend test times trap true ttyctl type typeset ulimit umask unalias unfunction
	unhash unlimit unset unsetopt vared wait whence where which zcompile zformat zftp zle zmodload zparseopts zprof zpty zregexparse
	zsocket zstyle ztcp`)

func TestMovesAssignNothing(t *testing.T) {
	for line, want := range map[string]int{"cd a >/dev/null && cd ~/b": 2, "cd a {HOME}>/dev/null && cd ~/b": 0, "cd a {OLDPWD}>&1 && cd -": 0} {
		if got := Moves(line); len(got) != want {
			t.Errorf("%s: %q, want %d changes of the folder", line, got, want)
		}
	}
}
