package settings

// Agent is what an installation for one agent consists of. Paths are relative
// to the project's root.
type Agent struct {
	Name  string // as in `writ init --agent`
	Title string // as its makers write it
	// Settings is the file that lists the hooks, "" where one of Files holds them.
	Settings string
	Host     Host
	// Off is the key of Settings that switches all hooks off, "" without one.
	Off string
	// Plugin is the file that holds the hooks where no settings list them, and
	// Plugged finds them there.
	Plugin  string
	Plugged func(text []byte) []Hook
	// Files are Writ's own, beside the settings; nil for none.
	Files func(program string) []File
	// Note is what the user has to know before the hooks run, "" for nothing.
	Note string
	// Traces are files and folders by which a project shows that it uses the
	// agent.
	Traces []string
	// Programs are the names by which the agent is started.
	Programs []string
}

// File is a file that is Writ's as a whole.
type File struct {
	Path    string
	Content []byte
	// Own says whether a file of that name is Writ's, of whatever version.
	Own func(content []byte) bool
}

// Own lists the files that are Writ's as a whole, for a program.
func (a Agent) Own(program string) []File {
	if a.Files == nil {
		return nil
	}
	return a.Files(program)
}

// HookFile is the file that the hooks stand in.
func (a Agent) HookFile() string {
	if a.Settings == "" {
		return a.Plugin
	}
	return a.Settings
}

// Hooks lists Writ's hooks in the text of the hook file.
func (a Agent) Hooks(text []byte) ([]Hook, error) {
	if a.Settings == "" {
		return a.Plugged(text), nil
	}
	return a.Host.Installed(text)
}
