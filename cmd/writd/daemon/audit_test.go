package daemon

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/minio/highwayhash"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/writ/cli"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/projections/audit/ledger"
	"github.com/writbus/writ/schemas"
)

// runAudit runs a command of the client on a data directory.
func runAudit(t *testing.T, data string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errw bytes.Buffer
	env := client.Env{Vars: []string{"WRIT_HOME=" + data}, Dir: t.TempDir(), Now: time.Now}
	code = cli.Run(t.Context(), append([]string{"audit"}, args...), strings.NewReader(""), &out, &errw, env)
	return code, out.String(), errw.String()
}

// logVerdict is what writ audit verify says of the sessions' stream.
type logVerdict struct {
	OK       bool              `json:"ok"`
	Streams  []evidence.Report `json:"streams"`
	Problems []string          `json:"problems"`
}

func verify(t *testing.T, data string, args ...string) logVerdict {
	t.Helper()
	code, out, errs := runAudit(t, data, append([]string{"verify", "--json"}, args...)...)
	var v logVerdict
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatalf("exit %d: %v: %s", code, err, errs)
	}
	if (code == 0) != v.OK {
		t.Fatalf("exit code %d, and ok is %v", code, v.OK)
	}
	return v
}

func (v logVerdict) sessions() evidence.Report { return v.Streams[0] }

// intrude opens the log of a stopped daemon the way somebody with its files can.
func intrude(t *testing.T, data string, tamper func(context.Context, jetstream.JetStream)) {
	t.Helper()
	user := embedded.User{Name: "intruder", Password: "p", Role: embedded.RoleDaemon}
	server, err := embedded.Start(t.Context(), embedded.Options{Dir: config.Layout{Root: data}.Log(), Durability: embedded.Interval, Users: []embedded.User{user}})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := nats.Connect(server.URL(), nats.UserInfo(user.Name, user.Password), nats.Timeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	tamper(t.Context(), js)
	conn.Close()
	if err := server.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// rewrite replaces the sessions' stream by one with other messages, under the
// same settings but for one that lets messages be deleted.
func rewrite(ctx context.Context, t *testing.T, js jetstream.JetStream, change func([]*nats.Msg) []*nats.Msg) jetstream.Stream {
	t.Helper()
	name := string(schemas.StreamSessions)
	old, err := js.Stream(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	settings := old.CachedInfo().Config
	var messages []*nats.Msg
	for seq := uint64(1); seq <= old.CachedInfo().State.LastSeq; seq++ {
		m, err := old.GetMsg(ctx, seq)
		if err != nil {
			t.Fatal(err)
		}
		header := nats.Header{}
		for k, v := range m.Header {
			if k == schemas.HeaderMsgID || !strings.HasPrefix(k, "Nats-") { // the others are the server's
				header[k] = v
			}
		}
		messages = append(messages, &nats.Msg{Subject: m.Subject, Header: header, Data: m.Data})
	}
	if err := js.DeleteStream(ctx, name); err != nil {
		t.Fatal(err)
	}
	settings.DenyDelete, settings.DenyPurge = false, false
	stream, err := js.CreateStream(ctx, settings)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range change(messages) {
		if _, err := js.PublishMsg(ctx, m); err != nil {
			t.Fatal(err)
		}
	}
	return stream
}

// flipByte changes one byte of a message in the block file, and the checksum
// with it, so that the server finds nothing wrong.
func flipByte(t *testing.T, data, marker string) {
	t.Helper()
	dir := filepath.Join(config.Layout{Root: data}.Log(), "jetstream", "$G", "streams", string(schemas.StreamSessions), "msgs")
	path := filepath.Join(dir, "1.blk")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	hit := bytes.Index(raw, []byte(marker))
	if hit < 0 {
		t.Fatalf("%s does not hold %q", path, marker)
	}
	raw[hit] ^= 1
	key := sha256.Sum256(fmt.Appendf(nil, "%s-%d", schemas.StreamSessions, 1))
	const head, sum, headers = 22, 8, 1 << 31
	for at := 0; at < len(raw); {
		size := binary.LittleEndian.Uint32(raw[at:])
		end := at + int(size&^uint32(headers))
		if at <= hit && hit < end {
			hash, err := highwayhash.NewDigest64(key[:])
			if err != nil {
				t.Fatal(err)
			}
			subject := int(binary.LittleEndian.Uint16(raw[at+20:]))
			body := at + head + subject
			_, _ = hash.Write(raw[at+4 : at+20])
			_, _ = hash.Write(raw[at+head : body])
			if size&headers != 0 {
				body += 4
			}
			_, _ = hash.Write(raw[body : end-sum])
			copy(raw[end-sum:], hash.Sum(nil))
		}
		at = end
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "index.db")); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
}

// copied is a data directory of its own with the same content.
func copied(t *testing.T, data string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(data)); err != nil {
		t.Fatal(err)
	}
	secrets, err := filepath.Glob(filepath.Join(config.Layout{Root: dir}.Credentials(), "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range secrets {
		if err := os.Chmod(secret, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// talk leaves some prompts in the log and returns the ids of their records.
func (w *world) talk(n int) (ids []string) {
	w.t.Helper()
	for i := range n {
		w.prompt(fmt.Sprintf("prompt number %d of this talk", i))
	}
	seen := map[uint64]bool{}
	for _, e := range w.history("s1") {
		if !seen[e.Position.Seq] {
			seen[e.Position.Seq] = true
			ids = append(ids, e.ID)
		}
	}
	return ids
}

// TestTamperingIsNamed changes the real files and streams of a stopped daemon.
func TestTamperingIsNamed(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	w := start(t, data, newProject(t, "mode: work\n"))
	ids := w.talk(5)
	if v := verify(t, data); !v.OK || v.sessions().Records != uint64(len(ids)) || v.sessions().Signed != uint64(len(ids)) {
		t.Fatalf("an honest log: %+v", v)
	}
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(config.Layout{Root: data}.Credentials(), "audit.key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the key is %v: %v", info.Mode(), err)
	}
	for name, c := range map[string]struct {
		tamper  func(t *testing.T, data string)
		want    []evidence.Finding
		noViews bool
	}{
		"a byte of the block file": {
			func(t *testing.T, data string) { flipByte(t, data, "number 2 of") },
			[]evidence.Finding{{Change: evidence.Altered, Seq: 4, ID: ids[3]}},
			false,
		},
		"and the views deleted": {
			func(t *testing.T, data string) { flipByte(t, data, "number 2 of") },
			[]evidence.Finding{{Change: evidence.Altered, Seq: 4, ID: ids[3]}},
			true,
		},
		"a message deleted": {func(t *testing.T, data string) {
			intrude(t, data, func(ctx context.Context, js jetstream.JetStream) {
				stream := rewrite(ctx, t, js, func(all []*nats.Msg) []*nats.Msg { return all })
				if err := stream.SecureDeleteMsg(ctx, 3); err != nil {
					t.Fatal(err)
				}
			})
		}, []evidence.Finding{{Change: evidence.Removed, Seq: 3, ID: ids[2]}}, false},
		"a stream written anew": {func(t *testing.T, data string) {
			intrude(t, data, func(ctx context.Context, js jetstream.JetStream) {
				rewrite(ctx, t, js, func(all []*nats.Msg) []*nats.Msg {
					forged := &nats.Msg{Subject: all[2].Subject, Header: nats.Header{}, Data: all[2].Data}
					for k, v := range all[2].Header {
						forged.Header[k] = v
					}
					forged.Header.Set(schemas.HeaderID, "forged")
					forged.Header.Set(schemas.HeaderMsgID, "forged")
					return append([]*nats.Msg{all[0], all[1], forged, all[3]}, all[4:]...)
				})
			})
		}, []evidence.Finding{{Change: evidence.Altered, Seq: 3, ID: ids[2]}}, false},
		"one taken out and the others moved up": {func(t *testing.T, data string) {
			intrude(t, data, func(ctx context.Context, js jetstream.JetStream) {
				rewrite(ctx, t, js, func(all []*nats.Msg) []*nats.Msg { return append(all[:2:2], all[3:]...) })
			})
		}, []evidence.Finding{{Change: evidence.Removed, Seq: 3, ID: ids[2]}}, false},
		"one inserted": {func(t *testing.T, data string) {
			intrude(t, data, func(ctx context.Context, js jetstream.JetStream) {
				rewrite(ctx, t, js, func(all []*nats.Msg) []*nats.Msg {
					forged := &nats.Msg{Subject: all[2].Subject, Header: nats.Header{schemas.HeaderID: {"forged"}, schemas.HeaderMsgID: {"forged"}}, Data: all[2].Data}
					return slices.Insert(all, 3, forged)
				})
			})
		}, []evidence.Finding{{Change: evidence.Inserted, Seq: 4, ID: "forged"}}, false},
		"two that changed places": {func(t *testing.T, data string) {
			intrude(t, data, func(ctx context.Context, js jetstream.JetStream) {
				rewrite(ctx, t, js, func(all []*nats.Msg) []*nats.Msg {
					all[2], all[3] = all[3], all[2]
					return all
				})
			})
		}, []evidence.Finding{{Change: evidence.Moved, Seq: 3, Was: 4, ID: ids[3]}}, false},
		"the front dropped, as a limit of age drops it": {func(t *testing.T, data string) {
			intrude(t, data, func(ctx context.Context, js jetstream.JetStream) {
				stream := rewrite(ctx, t, js, func(all []*nats.Msg) []*nats.Msg { return all })
				if err := stream.Purge(ctx, jetstream.WithPurgeSequence(3)); err != nil {
					t.Fatal(err)
				}
			})
		}, []evidence.Finding{{Change: evidence.Removed, Seq: 1, ID: ids[0]}, {Change: evidence.Removed, Seq: 2, ID: ids[1]}}, false},
		"the front dropped and the views deleted": {func(t *testing.T, data string) {
			intrude(t, data, func(ctx context.Context, js jetstream.JetStream) {
				stream := rewrite(ctx, t, js, func(all []*nats.Msg) []*nats.Msg { return all })
				if err := stream.Purge(ctx, jetstream.WithPurgeSequence(3)); err != nil {
					t.Fatal(err)
				}
			})
		}, []evidence.Finding{{Change: evidence.Removed, Seq: 1, ID: ids[0]}, {Change: evidence.Removed, Seq: 2, ID: ids[1]}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := copied(t, data)
			c.tamper(t, data)
			if c.noViews {
				if err := os.RemoveAll(config.Layout{Root: data}.Views()); err != nil {
					t.Fatal(err)
				}
			}
			start(t, data, t.TempDir())
			v := verify(t, data)
			if v.OK || fmt.Sprint(v.sessions().Findings) != fmt.Sprint(c.want) {
				t.Errorf("found %+v, not %+v", v, c.want)
			}
			code, out, errs := runAudit(t, data, "verify", "--stream", "sessions")
			t.Logf("%s%s", out, errs)
			if code != 1 || !strings.Contains(out, string(c.want[0].Change)+": record "+fmt.Sprint(c.want[0].Seq)+", event "+c.want[0].ID) || !strings.Contains(errs, "not the one that was signed") {
				t.Errorf("a person is told (exit %d)\n%s%s", code, out, errs)
			}
		})
	}
}

// TestNewEvidenceAfterTheFrontWasDropped begins anew over what is left, as the
// help on evidence says.
func TestNewEvidenceAfterTheFrontWasDropped(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	w := start(t, data, newProject(t, "mode: work\n"))
	left := len(w.talk(4)) - 2
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	intrude(t, data, func(ctx context.Context, js jetstream.JetStream) {
		stream := rewrite(ctx, t, js, func(all []*nats.Msg) []*nats.Msg { return all })
		if err := stream.Purge(ctx, jetstream.WithPurgeSequence(3)); err != nil {
			t.Fatal(err)
		}
	})
	for _, dir := range []string{config.Layout{Root: data}.Audit(), config.Layout{Root: data}.Views()} {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	// Nobody reads past records that are gone before a person gives them up.
	done, err := ledger.RepairArchive(config.Layout{Root: data}.Log(), "", data, "", true)
	if err != nil || len(done) != 1 || done[0].Last != 2 {
		t.Fatalf("given up: %+v, %v", done, err)
	}
	start(t, data, t.TempDir())
	if v := verify(t, data); !v.OK || len(v.sessions().Lost) != 2 || v.sessions().Records != uint64(left) || v.sessions().Signed != uint64(left)+2 {
		t.Errorf("what is left is not under new evidence: %+v", v)
	}
}

// TestProofsLeaveTheHouse proves an event and that the log grew, and has both
// checked where there is neither daemon nor log.
func TestProofsLeaveTheHouse(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	w := start(t, data, newProject(t, "mode: work\n"))
	ids := w.talk(3)
	files := t.TempDir()
	file := func(name string) string { return filepath.Join(files, name) }
	run := func(args ...string) string {
		t.Helper()
		code, out, errs := runAudit(t, data, args...)
		if code != 0 {
			t.Fatalf("audit %s: exit %d: %s", strings.Join(args, " "), code, errs)
		}
		return out
	}
	put(t, file("key.pub"), run("key"))
	put(t, file("early"), run("checkpoint", "--signed"))
	run("prove", ids[2], "--out", file("proof.json"))
	put(t, file("bySeq.json"), run("prove", "sessions/2"))
	w.talk(2)
	run("prove", "--since", file("early"), "--out", file("grown.json"))
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	for name, says := range map[string]string{"proof.json": "record 3 of WRIT_SESSIONS is in the log", "bySeq.json": "record 2", "grown.json": "only grew"} {
		code, out, errs := runAudit(t, elsewhere, "verify", file(name), "--key", file("key.pub"))
		if code != 0 || !strings.Contains(out, says) {
			t.Errorf("%s: exit %d: %s%s", name, code, out, errs)
		}
	}
	raw, err := os.ReadFile(file("proof.json"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, file("forged.json"), strings.Replace(string(raw), `"seq":3`, `"seq":2`, 1))
	if code, _, errs := runAudit(t, elsewhere, "verify", file("forged.json"), "--key", file("key.pub")); code != 1 || !strings.Contains(errs, "does not hold") {
		t.Errorf("a forged proof: exit %d: %s", code, errs)
	}
	if code, _, errs := runAudit(t, elsewhere, "verify", file("proof.json")); code != 1 || !strings.Contains(errs, "--key") {
		t.Errorf("without a key: exit %d: %s", code, errs)
	}
}

// TestCheckpointsReachOtherPlaces publishes to a file, a folder, a URL and
// another NATS, and finds with them what was changed here together with the
// evidence.
func TestCheckpointsReachOtherPlaces(t *testing.T) {
	t.Parallel()
	posted := make(chan string, 16)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		posted <- string(body)
	}))
	t.Cleanup(receiver.Close)
	other, err := embedded.Start(t.Context(), embedded.Options{Dir: t.TempDir(), Durability: embedded.Interval, Users: []embedded.User{{Name: "u", Password: "p", Role: embedded.RoleDaemon}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Shutdown(context.WithoutCancel(t.Context())) })
	conn, err := nats.Connect(other.URL(), nats.UserInfo("u", "p"), nats.Timeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "EVIDENCE", Subjects: []string{"evidence.>"}}); err != nil {
		t.Fatal(err)
	}
	places := t.TempDir()
	file, folder := filepath.Join(places, "all.checkpoints"), filepath.Join(places, "folder")+"/"
	data := t.TempDir()
	publish := func(s *config.Settings) {
		s.AuditPublish = []string{file, folder, receiver.URL, strings.Replace(other.URL(), "nats://", "nats://u:p@", 1) + "/evidence.writ", "http://127.0.0.1:1/nobody"}
	}
	w := startWith(t, data, newProject(t, "mode: work\n"), publish)
	ids := w.talk(3)
	if err := w.stop(); err != nil { // which signs and publishes
		t.Fatal(err)
	}
	own, err := os.ReadFile(filepath.Join(config.Layout{Root: data}.Audit(), "WRIT_SESSIONS.checkpoints"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, folder + "WRIT_SESSIONS.checkpoints"} {
		if got, err := os.ReadFile(path); err != nil || !bytes.Contains(got, own) {
			t.Errorf("%s holds %q: %v", path, got, err)
		}
	}
	newest := strings.TrimSuffix(string(own), "\n")
	if got := <-posted; got != newest {
		t.Errorf("posted: %q", got)
	}
	stream, err := js.Stream(t.Context(), "EVIDENCE")
	if err != nil {
		t.Fatal(err)
	}
	for seq := uint64(1); ; seq++ {
		m, err := stream.GetMsg(t.Context(), seq)
		if err != nil {
			t.Errorf("the other NATS has %d checkpoints, and not the newest of the sessions: %v", seq-1, err)
			break
		}
		if string(m.Data) == newest {
			break
		}
	}
	// The intruder changes the log, and takes the evidence here away.
	flipByte(t, data, "number 1 of")
	for _, dir := range []string{config.Layout{Root: data}.Audit(), config.Layout{Root: data}.Views()} {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	again := start(t, data, t.TempDir())
	if v := verify(t, data); !v.OK {
		t.Errorf("with nothing kept here there is nothing to find: %+v", v)
	}
	if v := verify(t, data, "--against", folder); v.OK || len(v.sessions().Findings) != 1 || v.sessions().Findings[0].ID != ids[2] {
		t.Errorf("against the folder: %+v", v)
	}
	if v := verify(t, data, "--against", file); v.OK {
		t.Errorf("against the file: %+v", v)
	}
	if err := again.stop(); err != nil {
		t.Fatal(err)
	}
	publish2 := startWith(t, data, t.TempDir(), publish)
	if _, err := call[schemas.AuditSealed](publish2, publish2.admin, schemas.SvcAuditSeal, bus.None{}); err != nil {
		t.Fatal(err)
	}
}

// TestAnEventNobodyHasCannotBeProven looks at the refusals of the service.
func TestAnEventNobodyHasCannotBeProven(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.talk(1)
	for name, c := range map[string]struct {
		request schemas.AuditProveRequest
		code    string
	}{
		"an unknown id":    {schemas.AuditProveRequest{Event: "nobody"}, schemas.CodeNotFound},
		"an unknown place": {schemas.AuditProveRequest{Stream: schemas.StreamSessions, Seq: 99}, schemas.CodeNotFound},
		"record 0":         {schemas.AuditProveRequest{Stream: schemas.StreamSessions}, schemas.CodeNotFound},
		"no stream":        {schemas.AuditProveRequest{Stream: "X", Seq: 1}, schemas.CodeBadRequest},
		"no checkpoint":    {schemas.AuditProveRequest{Earlier: "x"}, schemas.CodeBadRequest},
		"nothing whatever": {schemas.AuditProveRequest{}, schemas.CodeBadRequest},
	} {
		_, err := call[schemas.AuditProof](w, w.admin, schemas.SvcAuditProve, c.request)
		var service *bus.ServiceError
		if !errors.As(err, &service) || service.Code != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := call[schemas.AuditSealed](w, w.hook, schemas.SvcAuditSeal, bus.None{}); !errors.Is(err, bus.ErrDenied) {
		t.Errorf("a hook may sign: %v", err)
	}
}

// TestAMissingPastIsNotPassedOverInSilence: the second place outside of the data
// folder tells what a folder that was rolled back, or lost its evidence, cannot.
func TestAMissingPastIsNotPassedOverInSilence(t *testing.T) {
	witness := filepath.Join(t.TempDir(), "outside", "seen")
	project := newProject(t, "")
	at := func(data string) *world {
		return startWith(t, data, project, func(s *config.Settings) { s.AuditWitness = witness })
	}
	stopped := func(w *world) {
		t.Helper()
		if err := w.stop(); err != nil {
			t.Fatal(err)
		}
	}
	data := t.TempDir()
	w := at(data)
	w.talk(3)
	if v := verify(t, data); !v.OK || v.sessions().Since.IsZero() {
		t.Fatalf("%+v", v)
	}
	stopped(w)
	early := copied(t, data)
	w = at(data)
	w.talk(3)
	if v := verify(t, data); !v.OK || v.sessions().Checkpoints != v.sessions().Kept {
		t.Fatalf("%+v", v)
	}
	stopped(w)
	newest, err := os.ReadFile(witness)
	if err != nil {
		t.Fatal(err)
	}
	for name, intrusion := range map[string]func() string{
		"audit and views are gone": func() string {
			dir := copied(t, data)
			for _, gone := range []string{config.Layout{Root: dir}.Audit(), config.Layout{Root: dir}.Views()} {
				if err := os.RemoveAll(gone); err != nil {
					t.Fatal(err)
				}
			}
			return dir
		},
		"log and evidence rolled back": func() string { return early },
		"another key": func() string {
			dir := copied(t, data)
			for _, gone := range []string{config.Layout{Root: dir}.Audit(), config.Layout{Root: dir}.Views(), filepath.Join(config.Layout{Root: dir}.Credentials(), "audit.key")} {
				if err := os.RemoveAll(gone); err != nil {
					t.Fatal(err)
				}
			}
			return dir
		},
	} {
		dir := intrusion()
		w := at(dir)
		if v := verify(t, dir); v.OK || !strings.Contains(strings.Join(v.Problems, " "), witness) {
			t.Errorf("%s: %+v", name, v)
		}
		stopped(w)
		if now, err := os.ReadFile(witness); err != nil || !bytes.Equal(now, newest) {
			t.Errorf("%s: the second place follows: %v", name, err)
		}
	}
	// A second place that is missing is made anew, and what it says is true.
	if err := os.Remove(witness); err != nil {
		t.Fatal(err)
	}
	w = at(data)
	if v := verify(t, data); !v.OK {
		t.Errorf("%+v", v)
	}
	stopped(w)
}
