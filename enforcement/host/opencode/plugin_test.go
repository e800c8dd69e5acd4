package opencode

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestThePluginNamesItsProgram(t *testing.T) {
	for _, program := range []string{"/opt/writ", `C:\my tools\writ.exe`, `/odd"path/writ`} {
		text := Plugin(program)
		if !Own(text) || Program(text) != program || bytes.Contains(text, []byte("PROGRAM")) {
			t.Errorf("%s: %q", program, Program(text))
		}
	}
	if Own([]byte("export default {}")) || Program([]byte("const program = 1")) != "" {
		t.Error("somebody else's file is taken for Writ's")
	}
}

// The plugin runs in Node as in OpenCode's own runtime: a program that plays
// Writ answers it.
func TestThePluginThrowsWhatIsRefused(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("there is no node here to run the plugin in")
	}
	dir := t.TempDir()
	answers := map[string]string{
		"deny":    `cat > /dev/null; echo '{"verdict":"deny","reason":"no plan"}'; echo no plan >&2; exit 2`,
		"pass":    `cat > /dev/null; echo '{"verdict":"pass"}'`,
		"silent":  `cat > /dev/null`,
		"crash":   `cat > /dev/null; exit 1`,
		"garbage": `cat > /dev/null; echo '{'`,
		"confine": `cat > /dev/null; echo '{"verdict":"pass","command":"confined"}'`,
	}
	const drive = `
import { Writ } from "./NAME.mjs"
const client = { session: { get: async () => ({ data: { id: "s" } }) } }
const hooks = await Writ({ client, directory: process.cwd() })
const output = { args: { command: "make" } }
try {
  await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s", callID: "c" }, output)
  console.log(JSON.stringify({ ran: output.args.command }))
} catch (problem) {
  console.log(JSON.stringify({ threw: problem.message }))
}`
	want := map[string]string{"pass": "make", "silent": "make", "confine": "confined"}
	for name, body := range answers {
		program := filepath.Join(dir, "writ-"+name)
		put(t, program, "#!/bin/sh\n"+body+"\n", 0o755)
		put(t, filepath.Join(dir, name+".mjs"), string(Plugin(program)), 0o644)
	}
	put(t, filepath.Join(dir, "missing.mjs"), string(Plugin(filepath.Join(dir, "nothing"))), 0o644)
	for _, name := range []string{"deny", "pass", "silent", "crash", "garbage", "confine", "missing"} {
		put(t, filepath.Join(dir, "drive.mjs"), strings.Replace(drive, "NAME", name, 1), 0o644)
		cmd := exec.Command(node, "drive.mjs")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		var got struct{ Ran, Threw string }
		if err != nil || json.Unmarshal(out, &got) != nil {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
		switch {
		case want[name] != "" && got.Ran != want[name], want[name] == "" && got.Threw == "":
			t.Errorf("%s: %s", name, out)
		case name == "deny" && got.Threw != "no plan":
			t.Errorf("the reason is lost: %s", out)
		}
	}
}

func put(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}
