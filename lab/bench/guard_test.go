package bench

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

func expectError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error lacks %q: %v", part, err)
		}
	}
}

// TestAProviderThatExits ends the waiting for it, with the last lines of its log.
func TestAProviderThatExits(t *testing.T) {
	dir := t.TempDir()
	p := program{Manager: settings.ForeignManager(0), command: "sh -c 'echo no such flag'"}
	s := &settings.Settings{Dir: dir, BasePort: 26000}
	r := &runner{Options: Options{Timeout: time.Minute}, settings: s, programs: []program{p}}
	if err := p.startProgram(t.Context(), s, false); err != nil {
		t.Fatal(err)
	}
	err := r.runGuarded(t.Context(), func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	})
	expectError(t, err, "provider-0 has exited", filepath.Join(dir, "logs", "provider-0.log"), "no such flag")
}

// TestAProviderThatDoesNothing names the missing objects when the time is over.
func TestAProviderThatDoesNothing(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := clusterv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	scenario := Scenario{Name: "fleet", clusters: 2, machines: 1}
	// Another manager has reported the infrastructure of the first Cluster as provisioned.
	done := newObject(core, "Cluster", clusterName(0), clusterName(0),
		map[string]any{"infrastructureRef": newReference("AzureCluster", clusterName(0))})
	done.Object["status"] = map[string]any{"initialization": map[string]any{"infrastructureProvisioned": true}}
	pending := newObject(core, "Cluster", clusterName(1), clusterName(1),
		map[string]any{"infrastructureRef": newReference("AzureCluster", clusterName(1))})
	f := &fleet{kube: fake.NewClientBuilder().WithScheme(scheme).WithObjects([]client.Object{done, pending}...).Build()}
	for i := range scenario.clusters {
		f.clusters = append(f.clusters, []*unstructured.Unstructured{newObject(core, "Cluster", clusterName(i), clusterName(i), nil)})
	}
	late := errors.New("the time limit is over")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 500*time.Millisecond, late)
	defer cancel()
	err := f.awaitNone(ctx, "have no infrastructure", f.listWaiting)
	expectError(t, err, "1 have no infrastructure: Cluster "+clusterName(1)+": "+late.Error())
	if !errors.Is(err, late) {
		t.Errorf("%v lacks the cause", err)
	}
}

// TestBrokenLooks lets reads of the fleet fail for a moment, which the next reads make up for, and fail permanently.
func TestBrokenLooks(t *testing.T) {
	broken := errors.New("broken off")
	for _, tc := range []struct {
		reason      string
		fail, looks int
		want        error
	}{
		{"some interrupted answers do not end a run of a quarter of an hour", failures - 1, failures, nil},
		{"an API server that continues to fail is reported", failures, failures, broken},
	} {
		looks := 0
		err := (&fleet{}).awaitNone(t.Context(), "are there", func(context.Context) ([]string, error) {
			if looks++; looks <= tc.fail {
				return nil, broken
			}
			return nil, nil
		})
		if !errors.Is(err, tc.want) || looks != tc.looks {
			t.Errorf("%s: %v after %d looks, want %v after %d", tc.reason, err, looks, tc.want, tc.looks)
		}
	}
}

// TestPrograms pairs commands with the files of their places.
func TestPrograms(t *testing.T) {
	_, err := pairPrograms([]string{"a"}, []string{"x.yaml", "y.yaml"})
	expectError(t, err, "--components is given 2 times and --provider 1 times")
	_, err = pairPrograms([]string{"a"}, []string{filepath.Join(t.TempDir(), "none.yaml")})
	expectError(t, err, "--components: ", "none.yaml")
	got, err := pairPrograms([]string{"a", "b"}, nil)
	if err != nil || len(got) != 2 || got[1].Name != "provider-1" {
		t.Errorf("two commands are %v, %v", got, err)
	}
}

// TestVirtualTimeIsOurs runs scenarios in virtual time with another provider; it expects a refusal with the remedy.
func TestVirtualTimeIsOurs(t *testing.T) {
	s, err := FindScenario("fleet-hour")
	if err != nil {
		t.Fatal(err)
	}
	_, err = StartRun(t.Context(), s, Options{Commands: []string{"theirs"}})
	expectError(t, err, "fleet-hour runs in virtual time", "run the scenario fleet with --steady")
}

// TestLabOfAnotherUser checks that a bench leaves an existing lab alone.
func TestLabOfAnotherUser(t *testing.T) {
	s := &settings.Settings{Dir: t.TempDir()}
	if err := s.Save(); err != nil {
		t.Fatal(err)
	}
	scenario, err := FindScenario("fleet")
	if err != nil {
		t.Fatal(err)
	}
	_, err = StartRun(t.Context(), scenario, Options{Dir: s.Dir})
	expectError(t, err, "a lab exists in "+s.Dir, "lab down --dir")
	if _, err := settings.Load(s.Dir); err != nil {
		t.Error(err)
	}
	if running, err := management.ListRunning(s); err != nil || len(running) > 0 {
		t.Errorf("%v runs: %v", running, err)
	}
}
