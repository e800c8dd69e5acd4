package shell

import (
	"slices"
	"testing"
)

// TestElsewhere has commands that another process does, by class, behind whatever
// hides them.
func TestElsewhere(t *testing.T) {
	for class, commands := range map[Class][]string{
		Types: {
			"tmux send-keys -t 0 approved Enter", "tmux -L other send-keys approved Enter", "/usr/bin/tmux send -t host:0 approved C-m",
			"tmux new -d 'touch src/a.go'", "tmux", "tmux run-shell 'touch src/a.go'", "tmux display-message -p '#(touch src/a.go)'",
			"tmux display-message -p '#{E:pane_title}'", "tmux list-panes -F '#{W:#{q;T:pane_title}}'",
			"tmux ls \\; send-keys approved Enter", "tmux set-buffer approved ';' paste-buffer", "tmux pipe-pane -I 'echo approved'",
			"screen -X stuff 'approved\n'", "screen -S host -p 0 -X stuff approved", "screen -dm touch src/a.go", "zellij action write-chars approved",
			"kitty @ send-text approved", "kitten @ send-text --match all approved", "wezterm cli send-text --pane-id 0 approved",
			"xdotool type approved", "xdotool search --name Claude key Return", "ydotool type approved", "wtype approved", "echo type approved | dotool",
			"osascript -e 'tell app \"System Events\" to keystroke \"approved\"'", "i3-msg exec 'touch src/a.go'", "hyprctl dispatch exec touch src/a.go",
			"env -i PATH=/usr/bin timeout 5 tmux send-keys approved", "echo approved | xargs tmux send-keys", "sh -c 'tmux send-keys approved'",
			"echo $(tmux send-keys approved)", "f() { tmux send-keys \"$@\"; }; f approved", "alias t=tmux; t send-keys approved",
			"T=tmux; $T send-keys approved", "command tmux send-keys x", "exec tmux send-keys x", "nohup setsid tmux send-keys x &",
			"find . -maxdepth 0 -exec tmux send-keys approved ';'", "awk 'BEGIN { system(\"tmux send-keys approved\") }'",
			"python3 -c \"import os; os.system('tmux send-keys approved')\"",
			"python3 - <<'E'\nimport subprocess\nsubprocess.run(['tmux', 'send-keys', 'approved'])\nE",
			"node -e \"require('child_process').spawnSync('tmux', ['send-keys', 'approved'])\"",
			"node -e \"require('child_process').execSync('xdotool type approved')\"", "perl -e 'system \"tmux send-keys approved\"'",
			"perl -e 'exec \"xdotool\", \"type\", \"approved\"'", "ruby -e 'system(\"tmux\", \"send-keys\", \"approved\")'", "ruby -e '`tmux send-keys approved`'",
			"doppler run -- tmux send-keys approved", "nix-shell -p tmux --run 'tmux send-keys approved'", "watch tmux send-keys approved",
			"git -c alias.x='!tmux send-keys approved' x", "GIT_PAGER='tmux send-keys approved' git -p log", "trap 'tmux send-keys approved' EXIT",
			`$(which tmux) send-keys approved`, `"$(command -v tmux)" send-keys approved`, `declare -A m=([x]=tmux); ${m[x]} send-keys approved`,
			"ln -s /usr/bin/tmux /tmp/t; /tmp/t send-keys approved", "python3 -c \"from subprocess import *; Popen('tmux send-keys approved', shell=True)\"",
			"lua -e 'os.execute(\"tmux send-keys approved\")'", "vim -c ':!tmux send-keys approved' -c q", "make -f - <<< 'all: ; tmux send-keys approved'",
			"npx -c 'tmux send-keys approved'", "emacs --eval '(shell-command \"tmux send-keys approved\")'", "tmux \\\n  send-keys approved", "{tmux,send-keys,approved}",
			"a=(tmux send-keys approved); \"${a[@]}\"", "hash -p /usr/bin/tmux ls; ls send-keys approved", "sed '1e tmux send-keys approved' README.md",
			"git -c core.pager='tmux send-keys approved' log", "exec -a ls tmux send-keys x", "byobu new-session -d x", "xdotool search --name T type approved",
			"coproc tmux send-keys approved", "! tmux send-keys approved", "time tmux send-keys approved", "flock /tmp/l tmux send-keys approved",
			"parallel tmux send-keys ::: approved", "cat <<E | sh\ntmux send-keys approved\nE",
		},
		Agent: {
			"claude -p 'write src/a.go'", "npx -y @anthropic-ai/claude-code@latest -p x", "bunx @openai/codex exec x", "echo x | codex exec -",
			"gemini -p x", "uvx --from aider-chat aider --message x", "opencode run x", "cursor-agent -p x", "copilot -p x", "goose run -t x", "amp -x y",
			"pipx run aider-chat", "pnpm dlx @google/gemini-cli -p x",
			"claude version", "codex help", "claude mcp add x -- sh -c y", "gh copilot suggest x", "python3 -m aider --message x",
		},
		Schedule: {
			"echo 'touch src/a.go' | at now", "at -f x.sh now + 1 minute", "batch < x.sh", "crontab x", "echo '* * * * * x' | crontab -", "crontab -e",
			"systemd-run --user touch src/a.go", "systemd-run --on-active=5 touch x", "launchctl submit -l x -- touch src/a.go",
			"busctl --user call org.freedesktop.systemd1 /x y z", "busctl list --address=unixexec:path=/bin/touch,argv1=src/a.go", "gdbus call --session --dest x", "dbus-send --session x y", "tsp touch src/a.go",
			"watchman -- trigger . x '*.go' -- touch src/a.go",
		},
		Container: {
			"docker run -v $PWD:/w alpine touch /w/src/a.go", "docker exec c touch x", "docker compose up -d", "docker-compose run web sh", "podman run x",
			"docker run help", "docker start version", "echo 'docker run x' | bash -h", "docker cp c:/x src/a.go", "docker build .", "docker -H unix:///var/run/docker.sock run x", "docker compose -f x.yml exec web sh",
			"nerdctl run x", "buildah run c touch x", "kubectl exec p -- touch x", "kubectl apply -f x.yml", "kubectl apply --dry-run=client --dry-run=none -f x", "kubectl apply --dry-run=client -k x", "kubectl apply -f x --field-manager --dry-run=client", "kubectl create configmap x --from-literal --dry-run=client", "kubectl cp p:/x y", "kubectl run x --image=y",
			"kubectl debug node/x -it --image=y", "kubectl delete pod x", "helm install x y", "lxc exec c -- touch x", "incus exec c touch x",
			"multipass exec vm touch x", "vagrant ssh -c 'touch x'", "wsl.exe touch x", "limactl shell default touch x", "distrobox enter x -- touch y",
			"docker ps; docker run x", "systemctl -M box status", "systemctl status x -qMbox", "kubectl get pods --server http://x", "kubectl cluster-info dump --output-directory=x", "kubectl get pods --cache_dir x", "helm list --kube-apiserver http://x", "docker rm $(docker ps -q)", "docker inspect x | docker load",
			"npm exec -c 'docker run x'", "git bisect run docker run x", "$(which docker) run x", "node -e \"require('child_process').exec('docker run x')\"",
		},
		Machine: {
			"systemctl -H x status", "systemctl status y -Hx", "timedatectl --host=x", "busctl --host=x list", "docker -H ssh://x ps", "docker ps --host=ssh://x", "podman --url ssh://x ps",
			"ssh localhost touch src/a.go", "ssh h", "mosh h", "scp x h:y", "scp h:src/a.go src/a.go", "rsync -a x h:y", "rsync -e ssh h:x src/", "adb shell touch x",
			"sshpass -p x ssh h y", "telnet localhost 23", "ansible all -m shell -a x", "tailscale ssh h", "gcloud compute ssh x", "gcloud config set account x", "gcloud storage cp gs://b/x list", "gcloud storage cp gs://b/x.go list src", "gcloud compute instances stop list",
			"az vm stop --name list", "az keyvault secret download --name show --file src/x", "gcloud secrets versions access list", "fly apps destroy list", "hcloud server poweroff info",
			"aws omics get-read-set --id x src/y", "aws backup-storage get-chunk src/x", "az config set core.x=y", "aws ssm start-session --target x",
			"gh pr merge 4 --squash", "gh -R o/r pr merge 4", "gh pr update-branch 4", "gh api -X PUT repos/o/r/contents/x", "gh api -XDELETE p",
			"gh api repos/o/r/contents/x -f message=m", "gh api p --input x.json", "gh api p --jq -XGET -X PUT", "gh api graphql -f query='mutation { x }'", "gh api graphql -F query=@x",
			"gh repo sync", "curl -X PUT https://api.github.com/repos/o/r/contents/x -d @x.json", "curl -sd x https://gitlab.corp.example/api/v4/projects/1/repository/commits", "wget --method=DELETE https://codeberg.org/api/v1/repos/o/r", "gh workflow run ci.yml", "glab mr merge 1", "glab -R o/r mr merge 1", "glab mr -R o/r merge 1", "gh workflow -R o/r run ci.yml", "gh pr -R o/r merge 4", "curl --form-string a=b https://api.github.com/repos/o/r", "glab api -X POST x", "aws s3 rm s3://b/x", "aws configure get aws_secret_access_key", "aws configure", "git status && ssh localhost id", "python3 -c \"import pexpect; pexpect.run('ssh localhost id')\"", "gh codespace ssh -c x",
			`gh api graphql -f query="$Q"`, "gh api p -H 'X-HTTP-Method-Override: PUT'", "gh secret set T -b x", "gh release create v1",
			"curl -X POST https://git.corp.example/api/v4/projects/1/issues", "curl -d @x https://h/y", "curl --json '{}' https://h/y", "curl -T x https://h/y",
			"curl https://h/x --next -d a=1 https://h/y", "curl -X GET https://h/x -: -XDELETE https://h/y", "curl -H 'x-http-method: DELETE' https://h/x", `curl -H "$(cat x)" https://h/x`,
			"curl -X POST http://localhost@h/x", "curl -XPOST --connect-to localhost:80:h:80 http://localhost/x", "curl -K x", "wget --method PUT --body-file=x https://h", "wget --post-data a=1 https://h",
			"http POST h.example/x a=1", "http h.example/x a=1", "echo '{}' | http h.example/x", "xh put h.example/x", "https h.example/x f@x", "http DELETE h.example",
			"psql -c 'drop table t'", `psql -c "$SQL"`, "psql -f x.sql", "psql < x.sql", "echo 'drop table t' | psql", `psql -c '\copy t from x'`, "psql -c 'select 1; drop table t'",
			"mysql -e 'delete from t'", "mariadb --execute='truncate t'", "sqlcmd -Q 'delete from t'", "mongosh --eval 'db.t.drop()'", "mongosh x.js", "redis-cli set a b", "redis-cli -n 2 FLUSHALL",
			"redis-cli config set dir /x", "redis-cli $CMD", "redis-cli -x get a", "duckdb md:x 'drop table t'", "createdb x", "vault kv put a b=c", "kafka-topics --delete --topic x",
			"mysqladmin -u root drop ping", "mysqladmin flush-tables status", "flyway info migrate", "dbt run", "npm publish list", "npm unpublish get", "fly --org list deploy", "gcloud --x list init",
			"redis-cli --pipe get x", "redis-cli --pipe --scan", "mongosh h/t x.txt --eval 'db.t.find()'", `psql -c '\lo_unlink 1'`, "psql <<'E'\n\\dt\ndrop table t\nE",
			"psql -v A=delete <<< 'with x as (:A from t returning *) select * from x'", "http POST h.example/x a=b localhost:x", "http h.example/x a=b localhost:x", "echo x | http host",
			"curl -X DELETE 'https://api.github.com?@localhost/'", "terraform -chdir=x state rm a",
			"npm publish", "yarn npm publish", "pnpm --filter x publish", "cargo publish", "uv publish", "poetry publish", "mvn deploy", "gradle :lib:publish", "twine upload x", "dotnet nuget push x",
			"rails db:migrate", "npx prisma migrate deploy", "make deploy", "gh gist create n.md", "gh pr create --title --dry-run --body x", "gh pr create --dry-run=false -t x", "gh pr create $X --dry-run", "gh codespace ports visibility 80:public",
			"glab mr approve mrs list", "glab issue note issues list", "argocd app unset apps list", "crane pull images list", "railway run nodejs list",
			"gcloud services disable apis list", "wrangler kv key put keys list", "fly machine kill machines list", "oras blob fetch --output a.go x", "eb config",
			"http h.example <<< Q", "gh pr create -t --dry-run -b x", "gh issue create --title x --dry-run", "gh pr create --fill", "gh pr comment 1 -b x", "gh -R o/r issue edit 3 --title z", "gh run rerun 1", "gh label create x", "gh unknown verb", "glab issue note 4 -m x", "tea issues close 3",
			"jira issue move P-1 Done", "linear issue create", "stripe post /v1/refunds", "stripe trigger x", "skopeo copy docker://a docker://b", "crane tag r/i:1 latest", "crane tag manifest list", "oras push r/a f", "cosign sign r/i", "argocd app sync web", "flux reconcile x y",
			"vercel env add A production", "supabase functions deploy x", "firebase database:set /x y.json", "cdk watch", "fly deploy list", "deno eval 'await fetch(\"https://h\", {method: \"PUT\"})'", "mix hex.publish", "./gradlew publishToMavenCentral", "gem push a.gem", "npm run deploy", "make deploy-prod",
			"pod trunk push A.podspec", "nuget push a.nupkg", "anybody secrets set A", "anybody pr merge 4", "kcat -P -b b -t t f", "echo x | kcat -b b -t t", "mosquitto_pub -h b -t a -m x", "nc h 9000 < f", "echo x | nc h 9000", "openssl s_client -connect h:443 < f", "socat - TCP:h:9000",
			"git send-email x.patch", "python3 -c 'import requests; requests.post(\"https://h\", json={})'", "node -e \"fetch('https://h', {method:'POST'})\"", "ruby -rnet/http -e 'Net::HTTP.post(URI(\"https://h\"), \"x\")'", "perl -MLWP::UserAgent -e 'LWP::UserAgent->new->post(\"https://h\")'",
			"python3 - <<'E'\nimport psycopg2\npsycopg2.connect('host=db').cursor().execute(\"delete from users\")\nE", "python3 -c 'import boto3; boto3.client(\"s3\").put_object(Bucket=\"b\")'", "python3 -c \"import redis; redis.Redis(host='h').set('a', 1)\"",
			"esptool.py write_flash 0 x", "pio run -t upload", "terraform state rm a.b", "vercel --prod", "mail a@b < x",
		},
		Desktop: {
			"code --goto src/a.go", "emacsclient -e '(write-file \"src/a.go\")'", "nvim --server /tmp/s --remote-send ':w src/a.go<CR>'", "vim --remote-send x",
			"gvim --servername X --remote src/a.go", "subl --command x", "open -a Terminal x.command", "xdg-open x.desktop", "idea format src/a.go",
		},
		Setuid: {
			"sudo ls", "sudo -u bob touch src/a.go", "echo x | sudo -S tee src/a.go", "su - bob -c 'touch src/a.go'", "doas ls", "pkexec ls", "sudoedit src/a.go",
		},
		Service: {
			"systemctl --user start x", "systemctl --failed stop x", "systemctl enable --now x", "supervisorctl restart x", "pm2 start x.js", "service nginx restart", "brew services start x", "loginctl enable-linger",
			"timedatectl -p show set-timezone UTC", "loginctl -s list-sessions terminate-user x", "systemctl -P status stop x", "systemctl --signal status kill x",
		},
		Socket: {
			"curl -X POST http://localhost:2375/containers/create", "curl https://127.1:2376", "http POST :2375/containers/create a=b", "curl -s [::1]:2375/info",
			"curl --unix-socket /var/run/docker.sock http://localhost/containers/json", "curl -s --unix-socket=/run/podman.sock -X POST http://x/y",
			"curl --abstract-unix-socket x http://y", "nc -U /var/run/docker.sock", "ncat -U /tmp/tmux-0/default", "printf x | nc -NU /run/docker.sock",
			"socat - UNIX-CONNECT:/var/run/docker.sock", "socat TCP-LISTEN:80 ABSTRACT-CONNECT:x",
			"python3 -c \"import socket; s=socket.socket(socket.AF_UNIX); s.connect('/var/run/docker.sock')\"",
		},
	} {
		for _, command := range commands {
			got := Analyse(command, repoEnv()).Elsewhere
			if !slices.ContainsFunc(got, func(e Elsewhere) bool { return e.Class == class }) {
				t.Errorf("%s: %v, want %s", command, got, class)
			}
		}
	}
}

// TestNotElsewhere has what the same programs only read, and what only mentions
// them.
func TestNotElsewhere(t *testing.T) {
	for _, c := range []ownCase{
		r("docker ps"), r("docker ps -a --format '{{.Names}}'"), r("docker images"), r("docker logs --tail 5 web"), r("docker compose ps"), r("docker stats --no-stream"),
		r("kubectl get pods --output=json"), r("kubectl version --output yaml"), r("helm list --output json"), r("systemctl --failed --no-pager"),
		r("docker compose -f x.yml logs web"), r("docker compose config"), r("docker inspect web | jq '.[0].State'"), r("kubectl get pods -o wide"), r("kubectl logs -f x"),
		r("kubectl describe pod x"), r("kubectl top pods"), r("kubectl explain pod"), r("kubectl version"), r("tmux ls"), r("tmux -L other ls"),
		r("tmux list-panes -a -F '#{pane_id}'"), r("tmux display-message -p '#{session_name}'"), r("tmux show-options -g"), r("tmux -V"), r("screen -ls"), r("screen -list"),
		r("crontab -l"), r("timedatectl"), r("hostnamectl status"), r("resolvectl query x"), r("loginctl list-sessions"), r("systemctl list-units -n 3 --type=mount"), r("atq"), r("systemctl status nginx"), r("systemctl --user is-active x"), r("systemctl show x -p Y"), r("launchctl list"), r("helm list -A"),
		r("helm get values x"), r("helm status x"), r("aws s3 ls"), r("curl -s -H 'Accept: application/vnd.github+json' https://api.github.com/repos/o/r"), r("curl -X POST localhost:8080/github/hook -d x"), r("curl -G -d q=x https://api.github.com/search/code"), r("kubectl apply --dry-run=client -f x.yml"), r("gh api -X GET search/code -f q=x"), r("gh -R o/r pr diff 4"), r("glab -R o/r mr view 1"), r("kubectl create cm x --from-file=a --dry-run=client -o yaml"), r("gh api graphql -f query='query { viewer { login } }'"), r("gh api --paginate repos/o/r/pulls --jq '.[].number'"), r("aws ec2 describe-instances"), r("aws iam list-users"), r("aws iam get-user"), r("gh pr view 1"),
		r("gh codespace list"), r("adb devices"), r("ssh -V"), r("ssh -G h"), r("sudo --version"), r("claude --version"), r("codex --version"), r("code --version"),
		r("code --list-extensions"), r("wezterm cli list"), r("zellij list-sessions"), r("busctl list"), r("pm2 list"), r("supervisorctl status"), r("service nginx status"),
		r("ansible-playbook --syntax-check x.yml"), r("gcloud projects list"), r("gcloud compute instances list --format json"), r("gcloud compute instances describe web"), r("gcloud config get-value project"), r("az vm list -o table"), r("az account show"), r("doctl compute droplet list"), r("hcloud server list"), r("heroku apps:info"), r("fly status"), r("aws sts get-caller-identity"), r("aws ssm get-parameter --name x"), r("multipass list"), r("lxc list"), r("vagrant status"), r("minikube status"),
		r("systemctl --user"), r("hostnamectl --json=short"), r("loginctl"), r("networkctl"), r("aws configure list"), r("aws configure list-profiles"), r("aws configure get profile.x.region"), r("aws help"), r("docker help"),
		q("bash version"), q("python3 help"), q("echo touch x | tclsh --version"), q("make help"), r("bash --version"), r("split --version"),
		r("grep -rn 'tmux send-keys' ."), r("echo docker run x"), r("which tmux docker claude"), r("command -v tmux"), r("man tmux"), r("ls -l /var/run/docker.sock"),
		r("git log --grep 'ssh h'"), r("rg docker.sock"), r("cat docs/docker.sock.md"), r("curl -s http://localhost:8080"), r("nc -z localhost 80"), r("rsync -an x h:y"),
		r("ssh-add -l"), r("vagrant global-status"), r("loginctl list-sessions"), r("brew services list"), r("$(which docker) ps"), r("gh pr status"),
		q("python3 gen.py --screen x --type y"), q("go test ./tmux -run Send"), q("npm run tmux:new"), m("git commit -m 'tmux send-keys works'"),
		r("systemctl --no-pager -l status nginx"), r("kubectl -n x -o json get cm y"), r("kubectl -A get pods x"), r("npm -l ls x"), r("az --output table vm list"), r("gcloud --project p compute instances list"), r("ip -br a"), r("fly logs"),
		r("curl -X POST http://127.0.0.1:3000/x -d a=1"), r(`curl -d x "http://localhost:$PORT/x"`), r("curl -H \"Authorization: $T\" https://h/x"), r("curl -X GET https://h/_search -d x"), r("curl -X OPTIONS https://h"),
		r("http GET h.example/x q==1"), r("http h.example/x Accept:a"), r("http POST :8080/x a=1"), r("xh h.example"), r("wget -qO- https://h/x"), r("gh api graphql -f query='query($n:Int!){ x }' -F n=1 -f owner=\"$O\""),
		q("psql -c 'select 1'"), q(`psql -c '\d+ t'`), q("psql -lqt"), q("psql -v ON_ERROR_STOP=1 -Atc 'select 1; select 2'"), q("psql <<< 'select 1'"), q("mysql -uroot -e 'show tables'"), q("redis-cli -h x -p 1 GET a"), q("redis-cli config get x"),
		q("redis-cli --scan --pattern x"), q("mongosh --eval 'db.t.find().limit(1)'"), q("duckdb -c \"select * from 'a.csv'\""), q("clickhouse-client -q 'select 1'"), r("npm owner ls"), q("npm publish --dry-run"), q("pytest -k deploy"),
		r("mysqladmin -uroot -psecret ping"), r("mysqladmin --host h ping"), q("dbt test"), q("flyway info"), r("npm owner ls x"), r("npm dist-tag ls x"), r("heroku --app x logs"), r("fly -a x status"),
		q("mysql -uroot -psecret app -e 'select 1'"), q("mysql -e 'show create table t\\G'"), q("psql <<'E'\n\\dt public.*\nE"), q("dotnet publish -c Release"), r("http POST localhost:80/x a=b"), r("xh :80/x a=b"),
		q("gh pr checkout 7"), r("gh pr create --title 'a > b' --body x --dry-run"), q("gh repo clone o/r"), q("gh release download v1"), r("gh label list"), r("gh pr list --search 'is:open'"), r("jira issue list"), r("stripe get /v1/charges/x"), r("crane digest r/i"), r("skopeo list-tags docker://a"), r("argocd app diff web"),
		r("glab issue view 4"), r("az network vnet subnet list"), r("gcloud run services list"), q("hub diff --output=a.go"), q("cdk ls -a 'touch a'"), q("vercel dev"), q("supabase start"), r("wrangler kv key list"), r("heroku ps -a x"), r("aws logs filter-log-events --log-group-name g"), r("echo | openssl s_client -connect h:443"), r("openssl s_client -connect h:443 < /dev/null"), r("nc -zv h 22"),
		q("anybody list"), q("anybody build"), q("mix test"), q("npm run build"), q("python3 -c 'import requests; requests.get(\"https://h\")'"), q("python3 -c 'import requests; requests.post(\"http://localhost:80/x\")'"), q("python3 -c \"import psycopg2; psycopg2.connect('host=db').cursor().execute('select 1')\""),
		q("rails db:migrate:status"), q("terraform workspace select x"), r("pgrep -fl claude"), r("type sudo"),
		q("npm install docker at tmux"), q("brew install tmux screen"), q("python3 -c \"print('docker', 'run')\""), q("pip install aider-chat"), q("npm run docker"),
		q("vim src/a.go"), q("terraform plan"), q("make at"), q("go run ./cmd/ssh"), q("unknowncmd tmux"), w("rsync -a x y", "y"), w("scp a b", "b"),
		w("docker logs x > o.txt", "o.txt"), m("git push origin main"),
	} {
		got := Analyse(c.command, repoEnv())
		if len(got.Elsewhere) > 0 || map[string]Effect{"r": ReadsOnly, "w": Writes, "m": Writes, "?": CannotTell}[c.effect] != got.Effect {
			t.Errorf("%s: %v %v, %v", c.command, got.Effect, got.Elsewhere, got.Reasons)
		}
	}
}
