package command

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
)

// TestLogsWithoutTheirPods lists the Pods of the providers from an API server that refuses it: a bundle is written without them only where the
// user may not list Pods, so this error differs from others.
func TestLogsWithoutTheirPods(t *testing.T) {
	for reason, test := range map[string]struct {
		code      int
		forbidden bool
	}{
		"Forbidden":     {http.StatusForbidden, true},
		"Unauthorized":  {http.StatusUnauthorized, false},
		"InternalError": {http.StatusInternalServerError, false},
	} {
		t.Run(reason, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(test.code)
				fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d}`, reason, test.code)
			}))
			defer server.Close()
			logs, err := listLogs(t.Context(), &rest.Config{Host: server.URL})
			if err == nil || apierrors.IsForbidden(err) != test.forbidden || len(logs) > 0 {
				t.Errorf("%d logs, %v", len(logs), err)
			}
		})
	}
}

// noCredential is that of a user who is not signed in.
type noCredential struct{}

// GetToken implements azcore.TokenCredential.
func (noCredential) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{}, errors.New("run az login")
}

// Answers of the API server.
const (
	forbidden = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"not allowed"}`
	noCluster = `{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"ClusterList","metadata":{},"items":[]}`
	cluster   = `{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"ClusterList","metadata":{},"items":[
		{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Cluster","metadata":{"name":"c1","namespace":"default"}}]}`
)

// TestIncompleteBundle writes bundles of a management cluster whose user may not list Pods and is not signed in to Azure. A part that is missing
// has a note, and without the Cluster there is no file.
func TestIncompleteBundle(t *testing.T) {
	for name, test := range map[string]struct {
		reason    string
		clusters  string
		arguments []string
		fails     string
		notes     []string
	}{
		"no Cluster": {"the name or the namespace is wrong", noCluster, nil, "there is no Cluster default/c1", nil},
		"Clusters are forbidden": {"the user lacks the right, and the Cluster may exist", forbidden, nil,
			"list the Clusters of namespace default: not allowed", nil},
		"unknown cloud": {"the resources are in none", cluster, []string{"--azure-environment", "Bogus"}, "Bogus", nil},
		"parts": {"the reader of the bundle sees why they are missing", cluster, nil, "",
			[]string{"Operations in Azure are missing: ", "run az login", "The logs of the Pods are missing: ", "not allowed"}},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "c1.tar.gz")
			e := &environment.Environment{Kubeconfig: serveClusters(t, test.clusters), Credential: noCredential{}, RemoveFile: os.Remove,
				CreateFile: func(name string) (io.WriteCloser, error) { return os.Create(name) }}
			verb, out := NewBundleCommand(e), &bytes.Buffer{}
			verb.SilenceUsage, verb.SilenceErrors = true, true
			verb.SetOut(out)
			verb.SetArgs(append([]string{"c1", "--file", file}, test.arguments...))
			err := verb.ExecuteContext(t.Context())
			if test.fails != "" {
				if err == nil || !strings.Contains(err.Error(), test.fails) {
					t.Errorf("%s: got %v, want %q", test.reason, err, test.fails)
				}
				if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("a file is left, which the next command would not replace: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			notes := readNotes(t, file)
			for _, want := range test.notes {
				if !strings.Contains(notes, want) || !strings.Contains(out.String(), want) {
					t.Errorf("%s: %q is missing\nnotes.txt:\n%s\noutput:\n%s", test.reason, want, notes, out)
				}
			}
		})
	}
}

// TestInterruptedBundle interrupts the command while it reads a log. It leaves no file, which would lack what could be read.
func TestInterruptedBundle(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c1.tar.gz")
	ctx, interrupt := context.WithCancel(t.Context())
	e := &environment.Environment{Kubeconfig: serveClusters(t, cluster), Credential: noCredential{}, RemoveFile: os.Remove,
		CreateFile: func(name string) (io.WriteCloser, error) { return os.Create(name) },
		OpenFile: func(string) (io.ReadCloser, error) {
			interrupt()
			return nil, context.Canceled
		}}
	verb, out := NewBundleCommand(e), &bytes.Buffer{}
	verb.SilenceUsage, verb.SilenceErrors = true, true
	verb.SetOut(out)
	verb.SetArgs([]string{"c1", "--file", file, "--log", "manager.log"})
	if err := verb.ExecuteContext(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the command ends with %v\noutput:\n%s", err, out)
	}
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file is left, which the next command would not replace: %v", err)
	}
}

// serveClusters serves the Clusters of a management cluster in which nothing else can be read, and returns its kubeconfig.
func serveClusters(t *testing.T, clusters string) string {
	t.Helper()
	answers := map[string]string{
		"/api":    `{"kind":"APIVersions","versions":["v1"]}`,
		"/api/v1": `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[]}`,
		"/apis": `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"cluster.x-k8s.io",
			"versions":[{"groupVersion":"cluster.x-k8s.io/v1beta2","version":"v1beta2"}],
			"preferredVersion":{"groupVersion":"cluster.x-k8s.io/v1beta2","version":"v1beta2"}}]}`,
		"/apis/cluster.x-k8s.io/v1beta2": `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"cluster.x-k8s.io/v1beta2",
			"resources":[{"name":"clusters","kind":"Cluster","namespaced":true,"verbs":["list"]}]}`,
		"/apis/cluster.x-k8s.io/v1beta2/namespaces/default/clusters": clusters,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, has := answers[r.URL.Path]
		if !has {
			answer = forbidden
		}
		w.Header().Set("Content-Type", "application/json")
		if answer == forbidden {
			w.WriteHeader(http.StatusForbidden)
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	kubeconfig, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Config", "current-context": "c",
		"clusters": []any{map[string]any{"name": "c", "cluster": map[string]any{"server": server.URL}}},
		"contexts": []any{map[string]any{"name": "c", "context": map[string]any{"cluster": "c", "user": "u"}}},
		"users":    []any{map[string]any{"name": "u", "user": map[string]any{}}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// readNotes returns the content of notes.txt.
func readNotes(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = raw.Close() }()
	compressed, err := gzip.NewReader(raw)
	if err != nil {
		t.Fatal(err)
	}
	for archive := tar.NewReader(compressed); ; {
		header, err := archive.Next()
		if err != nil {
			t.Fatalf("notes.txt: %v", err)
		}
		if header.Name == "c1/notes.txt" {
			content, err := io.ReadAll(archive)
			if err != nil {
				t.Fatal(err)
			}
			return string(content)
		}
	}
}
