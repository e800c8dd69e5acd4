package embed

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// ErrChecksum is returned for a model whose files are not those its checksums
// name.
var ErrChecksum = errors.New("embed: checksum mismatch")

// modelFiles are what shapes a model's vectors, of the directories [Load] reads:
// others may lie beside them unused.
var modelFiles = []string{
	"config.json", weightsFile, "tokenizer.json", "vocab.txt", "tokenizer_config.json",
	"sentence_bert_config.json", "modules.json", "1_Pooling/config.json", "config_sentence_transformers.json",
	"2_Dense/config.json", "2_Dense/" + weightsFile, "3_Dense/config.json", "3_Dense/" + weightsFile,
}

// The files that may state checksums: a list that must name every model file,
// and the model card, of which lines in the same form count.
const (
	listFile = "checksums.txt"
	cardFile = "README.md"
)

// verify compares the model's files with their checksums, if any are stated,
// and returns a version: twelve hexadecimal digits of what it consists of.
func verify(dir string, maxTokens int) (version string, err error) {
	stated, complete, err := readChecksums(dir)
	if err != nil {
		return "", err
	}
	all := sha256.New()
	fmt.Fprintf(all, "%d\n", maxTokens)
	for _, name := range modelFiles {
		full := filepath.Join(dir, filepath.FromSlash(name))
		want, listed := stated[name]
		sum, err := sha256File(full)
		switch {
		case errors.Is(err, fs.ErrNotExist) && !listed:
			continue
		case errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("%w: %s is missing, its checksum is stated; fetch the model again", ErrChecksum, full)
		case err != nil:
			return "", fmt.Errorf("embed: %w", err)
		case listed && sum != want:
			return "", fmt.Errorf("%w: %s has SHA-256 %s, stated is %s; fetch the model again", ErrChecksum, full, sum, want)
		case complete && !listed:
			return "", fmt.Errorf("%w: %s is not in %s: add it there if it belongs to the model, else remove it", ErrChecksum, full, listFile)
		}
		fmt.Fprintf(all, "%s %s\n", sum, name)
	}
	return hex.EncodeToString(all.Sum(nil)[:6]), nil
}

// readChecksums returns SHA-256 sums by name; complete says that they are from a
// list that must name every file.
func readChecksums(dir string) (sums map[string]string, complete bool, err error) {
	full := filepath.Join(dir, listFile)
	raw, err := os.ReadFile(full)
	if err == nil {
		if sums, err = parseChecksums(raw); err != nil {
			return nil, false, fmt.Errorf("%w: %s: %w", ErrChecksum, full, err)
		}
		return sums, true, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, false, fmt.Errorf("embed: %w", err)
	}
	raw, err = os.ReadFile(filepath.Join(dir, cardFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false, fmt.Errorf("embed: %w", err)
	}
	sums = map[string]string{}
	for line := range bytes.Lines(raw) {
		if sum, name, ok := checksumLine(string(line)); ok {
			sums[name] = sum
		}
	}
	return sums, false, nil
}

// parseChecksums reads the output of sha256sum; empty lines and those that begin
// with # are allowed, no name may be there twice.
func parseChecksums(raw []byte) (map[string]string, error) {
	sums := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, len(raw)+1)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		sum, name, ok := checksumLine(line)
		if !ok {
			return nil, fmt.Errorf("line %d is no SHA-256 and name", n)
		}
		if _, twice := sums[name]; twice {
			return nil, fmt.Errorf("line %d names %s again", n, name)
		}
		sums[name] = sum
	}
	return sums, lines.Err()
}

var checksum = regexp.MustCompile(`^\s*([0-9a-fA-F]{64}) [ *]?(\S.*?)\s*$`)

func checksumLine(line string) (sum, name string, ok bool) {
	found := checksum.FindStringSubmatch(line)
	if found == nil {
		return "", "", false
	}
	return strings.ToLower(found[1]), path.Clean(found[2]), true
}

func sha256File(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
