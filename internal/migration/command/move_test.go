package command

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
)

// TestMoveCluster checks that the steps of a migration and clusterctl change the same cluster, even if the current context of the
// kubeconfig changes between them.
func TestMoveCluster(t *testing.T) {
	tests := map[string]struct {
		reason string
		flag   string
		want   string
	}{
		"current context":     {reason: "it was that of the user when the migration began", want: "one"},
		"context of the flag": {reason: "the user has named the cluster", flag: "two", want: "two"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var asked []string
			config := api.NewConfig()
			for _, name := range []string{"one", "two"} {
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					asked = append(asked, name)
					w.WriteHeader(http.StatusNotFound)
				}))
				t.Cleanup(server.Close)
				config.Clusters[name] = &api.Cluster{Server: server.URL}
				config.Contexts[name] = &api.Context{Cluster: name}
			}
			kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
			use := func(context string) {
				config.CurrentContext = context
				if err := clientcmd.WriteToFile(*config, kubeconfig); err != nil {
					t.Fatal(err)
				}
			}
			use("one")
			var got []string
			e := &environment.Environment{Kubeconfig: kubeconfig, RunProgram: func(_ context.Context, _ io.Writer, _ []string, _ string, arguments ...string) error {
				got = arguments
				return nil
			}}
			e.Overrides.CurrentContext = tt.flag
			move, err := (&moveFlags{}).newMove(&cobra.Command{}, e)
			if err != nil {
				t.Fatal(err)
			}
			use("two")
			// The cluster has no API. The test only needs its name.
			_ = move.Client.Get(t.Context(), client.ObjectKey{Name: "default"}, &corev1.Namespace{})
			if diff := cmp.Diff([]string{tt.want}, slices.Compact(asked)); diff != "" {
				t.Errorf("%s: clusters of the steps (-want +got):\n%s", tt.reason, diff)
			}
			if err := move.Clusterctl(t.Context(), nil, "delete"); err != nil {
				t.Fatal(err)
			}
			want := []string{"delete", "--kubeconfig", kubeconfig, "--kubeconfig-context", tt.want}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: arguments of clusterctl (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}
