package config

import (
	"errors"
	"testing"
	"time"
)

func TestHookBudget(t *testing.T) {
	for value, want := range map[string]time.Duration{"": 2 * time.Second, "500ms": 500 * time.Millisecond, "9s": 9 * time.Second} {
		if got, err := HookBudget(value); err != nil || got != want {
			t.Errorf("%q: %s, %v, want %s", value, got, err, want)
		}
	}
	// Ten seconds is when a host stops waiting and lets the action proceed.
	for _, value := range []string{"soon", "2", "499ms", "10s", "-1s"} {
		if _, err := HookBudget(value); !errors.Is(err, ErrSettings) {
			t.Errorf("%q: %v, want ErrSettings", value, err)
		}
	}
}

func TestHookBudgetFromTheEnvironmentLeavesRoomForTheWay(t *testing.T) {
	t.Setenv(HookBudgetVar, "4s")
	s, err := Load(t.TempDir())
	if err != nil || s.HookBudget != 4*time.Second-hookTravel {
		t.Errorf("%s, %v", s.HookBudget, err)
	}
	t.Setenv(HookBudgetVar, "10s")
	if _, err := Load(t.TempDir()); !errors.Is(err, ErrSettings) {
		t.Errorf("%v, want ErrSettings", err)
	}
}
