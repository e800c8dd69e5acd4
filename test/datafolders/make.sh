#!/bin/sh
# Makes a data folder with the programs of a folder, and keeps it beside this
# script, for TestKeptFolders to open with the programs of later checkouts:
#
#     test/datafolders/make.sh NAME FOLDER_WITH_WRIT_AND_WRITD
#     go test ./test -run TestKeptFolders -update
#
# The project and the data are below /srv/demo, which must not exist and is
# removed in the end.
set -eu
name=$1
PATH=$(cd "$2" && pwd):$PATH
here=$(cd "$(dirname "$0")" && pwd)
demo=/srv/demo
[ ! -e "$demo" ] || { echo "$demo exists already" >&2; exit 1; }
trap 'writ down >/dev/null 2>&1 || true; rm -rf "$demo"' EXIT

mkdir -p "$demo/project" "$demo/data" "$demo/home"
export HOME="$demo/home" WRIT_HOME="$demo/data" WRIT_DURABILITY=interval WRIT_HOOK_BUDGET=9s
unset CLAUDECODE CLAUDE_CODE_ENTRYPOINT CLAUDE_CODE_SESSION_ID || true
cd "$demo/project"

printf 'shipped_rules: false\n' >"$WRIT_HOME/config.yaml"

# hook EVENT SESSION FIELDS: a call of Claude Code; a refusal is an answer too.
hook() {
	printf '{"session_id":"%s","cwd":"%s","hook_event_name":"%s",%s}' "$2" "$demo/project" "$1" "$3" |
		writ hook claude "$1" >>"$demo/hooks.out" 2>&1 || true
}
prompt() { hook UserPromptSubmit "$1" "\"prompt\":\"$2\",\"source\":\"user\""; }
# tool SESSION ID TOOL INPUT: asked for, and done.
tool() {
	hook PreToolUse "$1" "\"tool_name\":\"$3\",\"tool_use_id\":\"$2\",\"tool_input\":$4"
	hook PostToolUse "$1" "\"tool_name\":\"$3\",\"tool_use_id\":\"$2\",\"tool_input\":$4,\"tool_response\":{\"success\":true}"
}
write() { tool "$1" "$2" Write "{\"file_path\":\"$demo/project/$3\",\"content\":\"\"}"; }

rule() {
	cat <<-END
		---
		id: $1
		title: $2
		domain: zoo
		severity: $3
		trigger: $4
		statement: $5
		symptoms:
		  - one is missing in the morning
		  - nobody knows how many there were
		  - readers write in
		violation: lock(gate)
		pass_example: ledger.write(count(all)); lock(gate)
		rationale: What left is found within the hour or not at all.
		---
	END
}

# Rules: added, edited, retired, brought back, proposed, reviewed, imported.
mkdir "$demo/rules" "$demo/rules/farm"
rule ZOO-STRIPE-001 'Paint stripes' high 'A zebra is drawn on a plain canvas for the gazette.' 'Paint the stripes before printing.' >"$demo/rules/zebra.md"
rule ZOO-STRIPE-001 'Paint stripes' high 'A zebra is drawn on a plain canvas for the gazette.' 'Paint the stripes in black ink.' >"$demo/rules/zebra-2.md"
rule ZOO-GNU-001 'Count the gnus' medium 'The keeper locks the enclosure of the gnus in the evening.' 'Count the gnus at the gate and write the number into the ledger.' >"$demo/rules/gnu.md"
rule ZOO-OWL-001 'Dim the lights' low 'The house of the owls opens for visitors at noon.' 'Dim the lights to five lux, and write the value onto the door.' >"$demo/rules/owl.md"
rule FARM-COW-001 'Warm water' low 'A cow is milked by hand on the farm.' 'Wash the udder with warm water first.' >"$demo/rules/farm/cow.md"
rule FARM-HEN-001 'An egg of chalk' low 'Eggs are collected from the hen house.' 'Leave one egg of chalk in every nest.' >"$demo/rules/farm/hen.md"
writ rule add "$demo/rules/zebra.md"
writ rule edit ZOO-STRIPE-001 --file "$demo/rules/zebra-2.md" --reason 'ink matters'
writ rule retire ZOO-STRIPE-001 --reason 'no zebras left'
writ rule revert ZOO-STRIPE-001 --to 2
writ rule propose "$demo/rules/gnu.md" --by claude
writ rule propose "$demo/rules/owl.md" --by claude
writ rule review ZOO-GNU-001 --promote --reason 'we lost one'
writ rule feedback ZOO-GNU-001 followed
writ rule import "$demo/rules/farm" --corpus farm
rm "$demo/rules/farm/hen.md"
writ rule import "$demo/rules/farm" --corpus farm --prune

# A session that works: a plan, its approval, tests, code, a refusal at each gate.
cat >check.sh <<'END'
test -e store/green && exit 0
echo 'FAIL: a user is not found'
exit 1
END
writ init
printf 'mode: work\ntest_command: sh check.sh\n' >.writ/config.yaml
hook SessionStart work-1 '"source":"startup"'
prompt work-1 'Draw a zebra on a plain canvas, and look users up by e-mail'
write work-1 w1 store/users.go
cat >plan.md <<'END'
# Plan

## Files

- `store/users.go` – look users up

## Analysis

The handler joins strings into a query. A bound parameter keeps the address out of the statement.

## Rules Applied

No matching rules

## Capabilities

- [ ] An unknown address yields ErrNotFound
END
write work-1 w2 plan.md
prompt work-1 approved
write work-1 w3 store/users.go
mkdir store
cat >store/users_test.go <<'END'
package store

import "testing"

func TestByEmail(t *testing.T) {
	if _, err := ByEmail("x"); err == nil {
		t.Fatal("no error")
	}
}
END
write work-1 w4 store/users_test.go
prompt work-1 'the tests are approved'
echo 'package store' >store/users.go
write work-1 w5 store/users.go
hook Stop work-1 '"stop_hook_active":false,"last_assistant_message":"I changed the store."'
touch store/green
write work-1 w6 store/users.go
hook Stop work-1 '"stop_hook_active":true,"last_assistant_message":"Everything is done, all tests pass."'
hook SubagentStart work-1 '"agent_id":"a1","agent_type":"Explore"'
hook SubagentStop work-1 '"agent_id":"a1","agent_type":"Explore","stop_hook_active":false'

# A session that talks, with a command of the shell, a secret and its end.
printf 'mode: conversation\n' >.writ/config.yaml
hook SessionStart talk-1 '"source":"startup"'
prompt talk-1 'The keeper locks the enclosure of the gnus; the key is AKIAQ3EGRZ7MNB4KXVPT'
tool talk-1 b1 Bash '{"command":"ls"}'
tool talk-1 r1 Read "{\"file_path\":\"$demo/project/plan.md\"}"
hook PreToolUse talk-1 '"tool_name":"Bash","tool_use_id":"b2","tool_input":{"command":"rm -rf /etc/passwd"}'
hook SessionEnd talk-1 '"reason":"other"'

# Observations: allowed, held, discarded, reviewed, reflected on, forgotten.
writ observe '[gate=allow confidence=85% category=jc:build reason="seen twice"] The billing tests need the race detector' --id a
writ observe '[gate=hold] The billing tests perhaps need a race detector on Mondays' --id h
writ observe '[gate=discard] billing tests, race detector, blah' --id d
writ observe 'no annotation for billing tests' --id m
writ observe '[gate=hold] The mill stands still on Sundays' --id s
writ observe '[gate=allow] the deployment credentials of the cluster are AKIAQ3EGRZ7MNB4KXVPT' --id k
for n in one two three; do
	writ observe "[gate=allow] crane number $n needs two drivers at night" --id "c-$n" --scope cranes
done
writ memory review h --allow --reason 'true on Mondays'
writ memory review a --discard --reason 'not any more'
writ memory forget m --reason 'somebody asked'
writ memory reflect --scope cranes

# A run of an agent, with commands that are done, denied and unknown, and what
# it leaves: a task, a lesson, a note, schedules.
mkdir agents
echo '{"name": "dev", "capabilities": ["/read", "/todo", "/mem", "/lesson", "/schedule", "/fetch"]}' >agents/dev.json
echo 'remember the milk' >notes.txt
cat >"$demo/response.txt" <<'END'
Let me look.
/read notes.txt
/exec rm notes.txt
/fetch http://127.0.0.1:1/
/todo add buy milk
/todo add feed the gnus
/lesson gnus: count before you lock
/mem write the mill stands still on Sundays
/mem add entry fact The mill
It stands still on Sundays.
/endentry
/schedule every day at 09:00: report
/schedule every day at 10:00: count
/raed more.txt
END
writ dispatch --agent agents/dev.json "$demo/response.txt"
for id in $(writ schedule list --json | sed -n 's/.*"id":"\([^"]*\)".*/\1/p' | sort -u); do
	if [ -z "${paused:-}" ]; then writ schedule pause "$id" && paused=$id; else writ schedule cancel "$id"; fi
done

# Files: an index, changed once.
mkdir docs
printf '# Guide\n\nRead @docs/pricing.md first, then @store/users.go.\n\nSee @docs/none.md.\n' >docs/guide.md
printf '# Pricing\n\nA payment is retried three times.\n' >docs/pricing.md
writ index build
mv docs/guide.md docs/manual.md
writ index build

writ emit proposal.made --id global --data '{"proposal_id":"p1","text":"tests need -race"}' || true
writ graph show ZOO-STRIPE-001
writ audit checkpoint
writ down
rm -rf "$WRIT_HOME/run" "$WRIT_HOME/log" "$WRIT_HOME/daemon.lock"
find "$WRIT_HOME" -type f | sort
tar -C "$demo" --sort=name --owner=0 --group=0 --numeric-owner -czf "$here/$name.tar.gz" data
ls -l "$here/$name.tar.gz"
