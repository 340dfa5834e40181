// Package steps moves a management cluster from the established provider to this one, and back. A migration is a list of named steps. Each
// one can be interrupted and repeated: it first looks whether the cluster is as the step leaves it.
//
// It sends no request to Azure. It blocks until the last step is done or a step fails.
package steps

import (
	"context"
	"fmt"
	"io"
	"maps"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration/backup"
)

// Move is one migration of a management cluster.
type Move struct {
	Client client.Client
	// Clusterctl runs the program clusterctl with arguments, for this management cluster. It gets those of the variables that the user has
	// not set.
	Clusterctl func(ctx context.Context, variables map[string]string, arguments ...string) error
	// FindRelease returns an error if clusterctl cannot read a version of the provider for Azure from its repository.
	FindRelease func(ctx context.Context, version string) error
	// Out gets one line for each step.
	Out io.Writer
	// To is the version of this provider.
	To string
	// UpgradeArguments are additional arguments of clusterctl upgrade apply, such as --core cluster-api:v1.12.0.
	UpgradeArguments []string
	// UncheckedASOKinds are the kinds of resource manifests that the new manager sends without a definition. A repetition has to name them
	// again until the upgrade.
	UncheckedASOKinds []string
	// Isolated are namespaces whose workload identities sign in as a ServiceAccount of their own. Their applications have to trust it.
	Isolated []string
	// Observe has the new manager observe all Clusters until users release them. A repetition keeps it.
	Observe bool
	// Timeout is the time in which all objects have to be reconciled.
	Timeout time.Duration
	// Poll is the time between two looks at the objects.
	Poll time.Duration

	progress *progress
	backup   *backup.Backup
}

// Step is one part of a migration.
type Step struct {
	Name string
	// IsDone reports whether the cluster is as the step leaves it.
	IsDone func(context.Context) (bool, error)
	Run    func(context.Context) error
}

// Directions of a migration.
const (
	forward = "run"
	back    = "back"
)

// runSteps runs the steps that are not done yet and stores the progress after each.
func (m *Move) runSteps(ctx context.Context, steps []Step) error {
	for i, step := range steps {
		state := "was done before"
		done, err := step.IsDone(ctx)
		if err == nil && !done {
			state = "done"
			err = step.Run(ctx)
		}
		if err != nil {
			return fmt.Errorf("step %s: %w. Repeat the command to continue", step.Name, err)
		}
		if err := m.measureStop(ctx, step.Name, state); err != nil {
			return err
		}
		if err := m.progress.markStep(ctx, m.Client, step.Name); err != nil {
			return err
		}
		fmt.Fprintf(m.Out, "[%d/%d] %s: %s\n", i+1, len(steps), step.Name, state)
	}
	return nil
}

// measureStop stores when the established provider was stopped, and prints after the upgrade for how long no manager ran.
func (m *Move) measureStop(ctx context.Context, step, state string) error {
	switch {
	case step == stopStep && m.progress.stopped.IsZero():
		m.progress.stopped = time.Now()
		return m.progress.store(ctx, m.Client)
	case step == upgradeStep && state == "done":
		fmt.Fprintf(m.Out, "      no manager ran for %.0f s\n", time.Since(m.progress.stopped).Seconds())
	}
	return nil
}

// azureProvider returns the entry of the provider for Azure in clusterctl's inventory. It is empty if there is none.
func (m *Move) azureProvider(ctx context.Context) (migration.Provider, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(migration.InventoryKind)
	if err := m.Client.List(ctx, list); err != nil && !meta.IsNoMatchError(err) {
		return migration.Provider{}, fmt.Errorf("list the inventory of clusterctl: %w", err)
	}
	azure, _ := migration.ReadInventory(list).Azure()
	return azure, nil
}

// isVersion returns a function that reports whether clusterctl has installed a version of the provider.
func (m *Move) isVersion(version string) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		azure, err := m.azureProvider(ctx)
		return azure.Version == version, err
	}
}

// uncheckedVariable is the variable of clusterctl with the kinds of resource manifests that lack a definition. The established provider has none.
const uncheckedVariable = "CAPZ_UNCHECKED_ASO_KINDS"

// installationVariables are the variables of clusterctl for a manager with the settings of the established one.
func (m *Move) installationVariables() map[string]string {
	out := map[string]string{}
	if m.backup != nil {
		maps.Copy(out, m.backup.Variables)
	}
	if len(m.UncheckedASOKinds) > 0 {
		out[uncheckedVariable] = strings.Join(m.UncheckedASOKinds, ",")
	}
	return out
}

// either returns a function that reports whether one of two conditions holds.
func either(first, second func(context.Context) (bool, error)) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		if done, err := first(ctx); done || err != nil {
			return done, err
		}
		return second(ctx)
	}
}
