package shell

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestPlainLinesAreAFewSimpleForms(t *testing.T) {
	for _, line := range []string{
		"cd src", "cd src && ls -la", "git status", "git log --oneline -5", "grep -rn 'a > b' src | head -5", `grep -rn "TODO: x" src`,
		"cat a.txt; wc -l a.txt", "find . -name '*.go' -type f", "git diff HEAD~1 -- src/main.go", "ls || true", "  ls  ", "ls;", "writ mode set work", "sort -rn --key=2 a.txt",
		"docker ps -a | head -3", "docker compose ps", "kubectl get pods -o json | jq .items", "gh pr view 1", "tmux ls", "crontab -l", "aws s3 ls", "screen -ls",
		"grep -rn x src", "date +%F", "date -d yesterday", "file -b --mime-type a", "jq -r .a b.json", "cut -d/ -f2 a", "kubectl get pods -l app=x", "rg -n x", "tmux display-message -p '#{session_name}'",
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
		"aws ec2 describe-images --filters file://x", "strings @plan.md", "ls | strings -n 3 @a", "test 'a[$(x)]' -eq 1", "test x -o 'a[1]' -eq 1",
		"kubectl get pods -o jsonpath-file=a", "kubectl get pods -ogo-template-file=a", "kubectl get pods --template=a", "az account show --query @a",
		"docker compose config", "docker compose -f a.yml ps", "docker compose --env-file a ps", "docker compose",
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

// FuzzPlainWords compares how a plain line is split with how bash, and zsh where
// there is one, split it.
func FuzzPlainWords(f *testing.F) {
	for _, seed := range []string{
		"cd src && ls -la", "grep -rn 'a > b' src | head -5", `grep "x y" a; wc -l b || true`, "a'b'c\"d\" e", "a ''", `a "" b`, "a:b=c,d@e%f+g", "a;b", "a  ;  b ;", "a -- -x", "time a",
		"a|b|c", "a&&b", "a 'x;y&&z|w'", "coproc a", "a =b", "a b=c", "- a", "a \\x", "export a=b",
	} {
		f.Add(seed)
	}
	var shells []string
	for _, name := range []string{"bash", "zsh"} {
		if _, err := exec.LookPath(name); err == nil {
			shells = append(shells, name)
		}
	}
	f.Fuzz(func(t *testing.T, line string) {
		commands, ok := PlainWords(line)
		if !ok {
			return
		}
		for _, name := range shells {
			// No program is found, so that each command's words come to the handler;
			// both ways it ends are tried, so that each side of && and || is reached.
			var got []string
			for _, status := range []string{"0", "1"} {
				handler := `() { local IFS=$'\037'; printf '%s\037\036' "$*" >&3; return ` + status + `; }; `
				cmd := exec.Command(name, "-c", "PATH=/nowhere; command_not_found_handle"+handler+"command_not_found_handler"+handler+"{ "+line+"\n} 3>&1 >/dev/null 2>/dev/null </dev/null")
				out, err := cmd.Output()
				var exit *exec.ExitError
				if err != nil && !errors.As(err, &exit) {
					t.Fatal(err)
				}
				for said := range strings.SplitSeq(string(out), "\036") {
					if said != "" && !slices.Contains(got, said) {
						got = append(got, said)
					}
				}
			}
			for _, said := range got {
				if !slices.ContainsFunc(commands, func(words []string) bool { return strings.Join(words, "\037")+"\037" == said }) {
					t.Fatalf("%s runs %q of %q, which is read as %q", name, said, line, commands)
				}
			}
			if slices.ContainsFunc(commands, func(words []string) bool { return builtin[words[0]] || strings.Contains(words[0], "/") }) {
				continue // it may end the line, or decide what is run
			}
			for _, words := range commands {
				if said := strings.Join(words, "\037") + "\037"; !slices.Contains(got, said) {
					t.Fatalf("%s does not run %q of %q but %q", name, words, line, got)
				}
			}
		}
	})
}

// builtin are the names that a shell runs without looking for a program.
var builtin = setOfWords(`. : [ alias autoload bg bind bindkey break builtin bye caller cap cd chdir clone command compadd comparguments
	compcall compctl compdescribe compfiles compgen compgroups complete compopt compquote compset comptags comptry compvalues continue
	declare dirs disable disown echo echotc echoti emulate enable eval exec exit export false fc fg float functions getcap getln getopts
	hash help histed history integer jobs kill let limit local log logout mapfile popd print printf pushd pushln pwd read readarray readonly rehash
	r return sched set setcap setopt shift shopt source stat suspend test times trap true ttyctl type typeset ulimit umask unalias unfunction
	unhash unlimit unset unsetopt vared wait whence where which zcompile zformat zftp zle zmodload zparseopts zprof zpty zregexparse
	zsocket zstyle ztcp`)
