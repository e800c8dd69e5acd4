//go:build !linux

package confine

import "path/filepath"

func join(parts ...string) string { return filepath.Join(parts...) }

func base(p string) string { return filepath.Base(p) }

func parent(p string) string { return filepath.Dir(p) }

func clean(p string) string { return filepath.Clean(p) }

func absolute(p string) bool { return filepath.IsAbs(p) }

func slashed(p string) string { return filepath.ToSlash(p) }

func lists(p string) []string { return filepath.SplitList(p) }

func withoutLinks(p string) (string, error) { return filepath.EvalSymlinks(p) }

func follow(p string, _ []string) (string, error) { return withoutLinks(p) }
