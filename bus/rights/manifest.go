package rights

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Manifest is what the administrator of a NATS applies so that it becomes a hub.
type Manifest struct {
	Members  []string
	Replicas int  // of the streams; 0 is 1
	Operator bool // calls of nsc instead of a configuration
}

// Streams are the definitions of a hub's streams, as `nats stream add --config` takes
// them, by name.
func (m Manifest) Streams() map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	subjects := map[string]string{Copies: hubShares[0][0], Seen: SeenSubject(">"), Memory: MemorySubject(">")}
	for name, kept := range map[string]int{Copies: -1, Seen: seenKept, Memory: 1} {
		// The server drops the oldest of a subject where only a number of each is kept,
		// and refuses what is new where a stream is full.
		all[name], _ = json.MarshalIndent(map[string]any{ // of texts and numbers alone
			"name": name, "subjects": []string{subjects[name]}, "storage": "file", "retention": "limits", "discard": "new",
			"num_replicas": max(m.Replicas, 1), "max_msgs": -1, "max_bytes": -1, "max_age": 0, "max_consumers": -1, "max_msg_size": -1,
			"max_msgs_per_subject": kept, "deny_delete": true, "deny_purge": true, "allow_rollup_hdrs": false, "allow_direct": true,
		}, "", "  ")
	}
	return all
}

// seenKept is how many of a witness's last words on a member are kept.
const seenKept = 64

// Config is the text for the configuration of a nats-server with accounts in it. Its
// passwords come from the server's environment: the text holds no secret.
func (m Manifest) Config() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# A hub of Writ: two accounts, for the "accounts" of each nats-server's configuration
# (include writ.conf), which needs jetstream and leafnodes, both with TLS. Passwords
# are taken from the server's environment, or put in their place here: %s.
accounts {
  %s {
    jetstream: enabled
    exports: [
`, strings.Join(m.passwords(), ", "), HubAccount)
	for _, s := range hubShares {
		fmt.Fprintf(&b, "      { service: %q, accounts: [%s] }\n", s[0], MemberAccount)
	}
	fmt.Fprintf(&b, "    ]\n    users: [\n      { user: %s, password: $%s } # makes the streams\n", AdminUser, password(AdminUser))
	user(&b, WitnessUser, WitnessUser, Witness)
	fmt.Fprintf(&b, "    ]\n  }\n  %s {\n    imports: [\n", MemberAccount)
	for _, s := range hubShares {
		fmt.Fprintf(&b, "      { service: { account: %s, subject: %q }, to: %q }\n", HubAccount, s[0], s[1])
	}
	b.WriteString("    ]\n    users: [\n")
	for _, member := range m.Members {
		user(&b, member, MemberUser(member), Member)
	}
	b.WriteString("    ]\n  }\n}\n")
	return b.String()
}

func user(b *strings.Builder, name, as string, r Role) {
	publish, hear, _, _ := Of(r, as)
	fmt.Fprintf(b, "      { user: %q, password: $%s, permissions: {\n          publish: { allow: [%s] }\n          subscribe: { allow: [%s] } } }\n",
		name, password(name), quoted(publish), quoted(hear))
}

func quoted(subjects []string) string {
	all := make([]string, len(subjects))
	for i, s := range subjects {
		all[i] = fmt.Sprintf("%q", s)
	}
	return strings.Join(all, ", ")
}

// password names the variable of the environment with a user's.
func password(name string) string {
	return "WRIT_PASSWORD_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

func (m Manifest) passwords() []string {
	all := []string{password(AdminUser), password(WitnessUser)}
	for _, member := range m.Members {
		all = append(all, password(member))
	}
	return all
}

// Commands are the calls of nsc that make the same in operator mode, and the files that
// members and the witness sign in with.
func (m Manifest) Commands() string {
	var b strings.Builder
	b.WriteString("# A hub of Writ in operator mode, by nsc, under the operator that is chosen there.\n")
	fmt.Fprintf(&b, "nsc add account %s\nnsc edit account %s --js-mem-storage -1 --js-disk-storage -1 --js-streams -1 --js-consumer -1\nnsc add account %s\n", HubAccount, HubAccount, MemberAccount)
	for i, s := range hubShares {
		fmt.Fprintf(&b, "nsc add export --account %s --name writ-%d --service --subject '%s'\n", HubAccount, i, s[0])
		fmt.Fprintf(&b, "nsc add import --account %s --name writ-%d --service --src-account %s --remote-subject '%s' --local-subject '%s'\n", MemberAccount, i, HubAccount, s[0], s[1])
	}
	b.WriteString("nsc add user --account " + HubAccount + " --name " + AdminUser + "\n")
	add := func(account, name, as string, r Role) {
		publish, hear, _, _ := Of(r, as)
		fmt.Fprintf(&b, "nsc add user --account %s --name %s --allow-pub '%s' --allow-sub '%s'\nnsc generate creds --account %s --name %s > %s.creds\n",
			account, name, strings.Join(publish, ","), strings.Join(hear, ","), account, name, name)
	}
	fmt.Fprintf(&b, "nsc generate creds --account %s --name %s > %s.creds\n", HubAccount, AdminUser, AdminUser)
	add(HubAccount, WitnessUser, WitnessUser, Witness)
	for _, member := range m.Members {
		add(MemberAccount, member, MemberUser(member), Member)
	}
	b.WriteString("nsc push --all\n")
	return b.String()
}

// MakeStreams are the calls that make the streams, once the accounts are there.
func (m Manifest) MakeStreams() string {
	var b strings.Builder
	streams := m.Streams()
	for _, name := range []string{Copies, Seen, Memory} {
		fmt.Fprintf(&b, "nats --user "+AdminUser+" stream add --config /dev/stdin <<'END'\n%s\nEND\n", streams[name])
	}
	return b.String()
}

// Check says what is wrong with a manifest.
func (m Manifest) Check() error {
	seen := map[string]string{password(WitnessUser): WitnessUser, password(AdminUser): AdminUser}
	for _, member := range m.Members {
		if err := CheckMember(member); err != nil {
			return err
		}
		if other, twice := seen[password(member)]; twice {
			return fmt.Errorf("the member %s cannot be told from %s", member, other)
		}
		seen[password(member)] = member
	}
	if len(m.Members) == 0 {
		return errors.New("there is no hub without members: name each with --member")
	}
	return nil
}

// String is all that an administrator applies.
func (m Manifest) String() string {
	var b strings.Builder
	b.WriteString(map[bool]func() string{false: m.Config, true: m.Commands}[m.Operator]())
	b.WriteString("\n# The streams, once the accounts are there. writ team manifest --apply URL makes them, or:\n")
	for line := range strings.Lines(m.MakeStreams()) {
		if !m.Operator {
			line = "# " + line // the rest is a configuration
		}
		b.WriteString(line)
	}
	return b.String()
}

// MarshalJSON is the same for programs.
func (m Manifest) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{"config": m.Config(), "nsc": m.Commands(), "streams": m.Streams()})
}
