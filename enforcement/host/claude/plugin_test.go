package claude

import (
	"encoding/json"
	"reflect"
	"regexp"
	"testing"
)

// TestPluginIsWhatInitInstalls: one registry of hooks and commands, two ways to
// install them.
func TestPluginIsWhatInitInstalls(t *testing.T) {
	files, err := Plugin("writ", "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	content := map[string][]byte{}
	for _, f := range files {
		content[f.Path] = f.Content
	}
	settings, err := Settings.Merge(nil, "writ")
	if err != nil {
		t.Fatal(err)
	}
	var plugin, installed struct{ Hooks map[string]any }
	if json.Unmarshal(content["hooks/hooks.json"], &plugin) != nil || json.Unmarshal(settings, &installed) != nil || len(plugin.Hooks) < 10 {
		t.Fatalf("hooks: %s", content["hooks/hooks.json"])
	}
	if !reflect.DeepEqual(plugin.Hooks, installed.Hooks) {
		t.Errorf("the plugin's hooks are others than those that init installs:\n%s\n%s", content["hooks/hooks.json"], settings)
	}
	for _, c := range Commands("writ") {
		if string(content["commands/"+c.Name]) != string(c.Content) {
			t.Errorf("commands/%s differs", c.Name)
		}
	}
	var manifest struct{ Name, Version string }
	if json.Unmarshal(content[PluginManifest], &manifest) != nil || manifest.Name != "writ" || manifest.Version != "1.2.3" {
		t.Errorf("manifest: %s", content[PluginManifest])
	}
	var market struct {
		Plugins []struct{ Name, Source string }
	}
	if json.Unmarshal(content[".claude-plugin/marketplace.json"], &market) != nil || len(market.Plugins) != 1 || market.Plugins[0].Source != "./" {
		t.Errorf("marketplace: %s", content[".claude-plugin/marketplace.json"])
	}
}

// TestCommandsAreHeardByBothNames: a plugin's commands carry its name.
func TestCommandsAreHeardByBothNames(t *testing.T) {
	for _, w := range Settings.Hooks {
		if w.Event != "UserPromptExpansion" {
			continue
		}
		matches := regexp.MustCompile(w.Matcher).MatchString
		for name, want := range map[string]bool{"writ-approve": true, "writ:writ-approve": true, "writ:writ-mode": true, "other:writ-approve-all": false, "approve": false} {
			if matches(name) != want {
				t.Errorf("%s: %v", name, !want)
			}
		}
	}
}
