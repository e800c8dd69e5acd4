package rights

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Manifest is what the administrator of a NATS applies so that it becomes a hub.
type Manifest struct {
	Members  []string
	Direct   []string // daemons whose logs lie there
	Replicas int      // of the streams; 0 is 1
	Operator bool     // calls of nsc instead of a configuration
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
`, strings.Join(m.Passwords(), ", "))
	for _, name := range m.Direct {
		direct(&b, name)
	}
	fmt.Fprintf(&b, "  %s {\n    jetstream: enabled\n    exports: [\n", HubAccount)
	for _, s := range hubShares {
		fmt.Fprintf(&b, "      { service: %q, accounts: [%s] }\n", s[0], MemberAccount)
	}
	fmt.Fprintf(&b, "    ]\n    users: [\n      { user: %s, password: $%s } # makes the streams\n", AdminUser, password(AdminUser))
	user(&b, WitnessUser, WitnessUser, Witness, nil)
	fmt.Fprintf(&b, "    ]\n  }\n  %s {\n    imports: [\n", MemberAccount)
	for _, s := range hubShares {
		fmt.Fprintf(&b, "      { service: { account: %s, subject: %q }, to: %q }\n", HubAccount, s[0], s[1])
	}
	b.WriteString("    ]\n    users: [\n")
	for _, member := range m.Members {
		user(&b, member, MemberUser(member), Member, nil)
	}
	b.WriteString("    ]\n  }\n}\n")
	return b.String()
}

// user writes one, whose subjects are others than a machine's where another is given.
func user(b *strings.Builder, name, as string, r Role, other func(string) string) {
	publish, hear, _, _ := Of(r, as)
	publish = slices.Clone(publish)
	for i := range publish {
		if other != nil {
			publish[i] = other(publish[i])
		}
	}
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

// Passwords are the variables of the environment with the users' passwords.
func (m Manifest) Passwords() []string {
	all := []string{password(AdminUser), password(WitnessUser)}
	for _, user := range m.users() {
		all = append(all, password(user))
	}
	return all
}

// users are the members, and who the roles of daemons are there.
func (m Manifest) users() []string {
	all := slices.Clone(m.Members)
	for _, name := range m.Direct {
		for _, r := range Roles() {
			all = append(all, DirectUser(name, r))
		}
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
	for _, name := range m.Direct {
		if err := CheckMember(name); err != nil {
			return err
		}
	}
	for _, member := range m.users() {
		if err := CheckMember(member); err != nil {
			return err
		}
		if other, twice := seen[password(member)]; twice {
			return fmt.Errorf("the member %s cannot be told from %s", member, other)
		}
		seen[password(member)] = member
	}
	switch {
	case len(m.Members)+len(m.Direct) == 0:
		return errors.New("there is no hub without members: name each with --member")
	case m.Operator && len(m.Direct) > 0:
		return errors.New("the accounts of --direct are written as a configuration alone, not with --operator")
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
