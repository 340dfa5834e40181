package inspect

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

// TestBlob reads blobs of servers that are not as expected. No error has the signature of the URI.
func TestBlob(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/large":
			for range 3 * maxConsole / 1000 {
				_, _ = io.WriteString(w, strings.Repeat("x", 1000))
			}
			_, _ = io.WriteString(w, "end")
		case "/packed":
			if r.Header.Get("Accept-Encoding") != "identity" {
				w.Header().Set("Content-Encoding", "gzip")
				packed := gzip.NewWriter(w)
				_, _ = packed.Write(bytes.Repeat([]byte{0}, 1<<20))
				_ = packed.Close()
				return
			}
			_, _ = io.WriteString(w, "plain")
		default:
			http.Error(w, "sig=canary", http.StatusForbidden)
		}
		if r.Header.Get("Authorization") != "" {
			t.Error("the token of Azure is sent to the storage account")
		}
	}))
	t.Cleanup(server.Close)
	for name, test := range map[string]struct {
		reason, uri, end, err string
		length                int
	}{
		"large":     {"the end is kept", server.URL + "/large?sig=canary", "xend", "", maxConsole},
		"packed":    {"a small answer must not become a large log", server.URL + "/packed?sig=canary", "plain", "", 5},
		"forbidden": {"the status is named", server.URL + "/none?sig=canary", "", "answers with status 403", 0},
		"clear":     {"the log is not read without TLS", "http://example.com/log?sig=canary", "", "not of HTTPS", 0},
		"file":      {"the URI is of a server", "file:///etc/passwd?sig=canary", "", "not of HTTPS", 0},
		"closed":    {"the error has no URI", "https://127.0.0.1:1/log?sig=canary", "", "127.0.0.1:1 cannot be reached", 0},
	} {
		raw, err := Console{Transport: server.Client()}.readBlob(t.Context(), test.uri)
		switch {
		case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)), test.err == "" && err != nil:
			t.Errorf("%s: %s: %v", name, test.reason, err)
		case err != nil && strings.Contains(err.Error(), "canary"):
			t.Errorf("%s: the error has the signature: %v", name, err)
		case len(raw) != test.length || !strings.HasSuffix(string(raw), test.end):
			t.Errorf("%s: %s: %d bytes", name, test.reason, len(raw))
		}
	}
}

func TestHostKeys(t *testing.T) {
	const first, second = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDIhz2GK/XCUj4i6Q5yQJNL1MKMY0RtLsRuuQd6tQp3V",
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
	block := func(lines ...string) string {
		return beginKeys + "\n" + strings.Join(lines, "\n") + "\n" + endKeys + "\n"
	}
	for name, test := range map[string]struct {
		reason, log string
		want        []string
	}{
		"one":        {"a key with a comment", block(first + " root@m1"), []string{first}},
		"prefix":     {"systemd begins the line", block("[   14.0] cloud-init[812]: " + first), []string{first}},
		"last boot":  {"a disk that was replaced has new keys", block(first) + block(second), []string{second}},
		"incomplete": {"the log ends within the block", beginKeys + "\n" + first + "\n", nil},
		"no key":     {"other text is no key", block("ssh-ed25519 AAAA", "rm -rf /"), nil},
		"none":       {"an image without cloud-init", "Linux", nil},
	} {
		var got []string
		for _, key := range HostKeys(test.log) {
			got = append(got, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))))
		}
		if strings.Join(got, ";") != strings.Join(test.want, ";") {
			t.Errorf("%s: %s: %q", name, test.reason, got)
		}
	}
}

func TestFilterLog(t *testing.T) {
	long := "c1 " + strings.Repeat("y", 2*maxLine) + "\n"
	in := "a c1 b\nc10\n\"default/c1\"\n/virtualMachines/C1/x\nnothing\n" + long + "last c1"
	got, err := FilterLog(strings.NewReader(in), []string{"c1"}, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(got), "\n")
	if len(lines) != 5 || lines[0] != "a c1 b" || lines[1] != `"default/c1"` || lines[4] != "last c1" {
		t.Errorf("%d lines: %.200q", len(lines), got)
	}
	if got, err := FilterLog(strings.NewReader(strings.Repeat("c1\n", 1000)), []string{"c1"}, 30); err != nil || len(got) != 30 {
		t.Errorf("%d bytes of at most 30: %v", len(got), err)
	}
}
