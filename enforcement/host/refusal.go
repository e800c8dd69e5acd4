package host

import (
	"encoding/json"

	"github.com/writbus/writ/schemas"
)

// Refusal reads a refusal as the host of a hook does.
func Refusal(reply schemas.HookReply) (reason string, denied bool) {
	var out struct {
		Verdict    string `json:"verdict"`    // OpenCode's plugin
		Permission string `json:"permission"` // Cursor
		User       string `json:"user_message"`
		Decision   string `json:"decision"` // Gemini CLI
		Reason     string `json:"reason"`
		Flat       string `json:"permissionDecision"` // Copilot
		FlatReason string `json:"permissionDecisionReason"`
		Specific   struct {
			Decision string `json:"permissionDecision"` // Claude Code, Codex
			Reason   string `json:"permissionDecisionReason"`
		} `json:"hookSpecificOutput"`
	}
	_ = json.Unmarshal([]byte(reply.Stdout), &out)
	for _, said := range [][2]string{
		{out.Specific.Decision, out.Specific.Reason},
		{out.Flat, out.FlatReason},
		{out.Permission, out.User},
		{out.Decision, out.Reason},
		{out.Verdict, out.Reason},
	} {
		if said[0] == "deny" {
			return said[1], true
		}
	}
	return "", false
}

// Remarks are what an answer tells the user of a host.
func Remarks(reply schemas.HookReply) []string {
	var out struct {
		System string `json:"systemMessage"` // Claude Code, Codex, Gemini CLI
		User   string `json:"user_message"`  // Cursor
		Notice string `json:"notice"`        // OpenCode's plugin
	}
	_ = json.Unmarshal([]byte(reply.Stdout), &out)
	return []string{out.System, out.User, out.Notice}
}
