package management

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/lab/provider"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/sim/files"
)

// fieldOwner is the manager of the fields that the lab applies.
const fieldOwner = client.FieldOwner("lab")

// installProviders installs the providers with clusterctl, so that its inventory, move and upgrade work. Providers that
// are in the inventory already get their components applied unless the components are unchanged. clusterctl writes the
// inventory last, and refuses providers in it, so an interrupted init continues.
func (l *lab) installProviders(ctx context.Context) error {
	inventory, err := l.readInventory(ctx)
	if err != nil {
		return err
	}
	var fresh []settings.Manager
	sums := map[string]string{}
	for _, m := range l.s.InstalledManagers() {
		version := inventory[m.Label]
		sum, err := componentsSum(l.s, m, cmp.Or(version, provider.InstalledVersion(l.s, m)))
		if err != nil {
			return err
		}
		applied, err := os.ReadFile(l.appliedFile(m))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		switch {
		case version == "":
			fresh = append(fresh, m)
		case string(applied) == sum:
			continue
		default:
			if err := l.applyComponents(ctx, m, version); err != nil {
				return fmt.Errorf("apply components of %s: %w", m.Label, err)
			}
			l.report("%5.1f s  components of %s applied", time.Since(l.begin).Seconds(), m.Label)
		}
		sums[l.appliedFile(m)] = sum
	}
	if len(fresh) > 0 {
		if err := l.initProviders(ctx, fresh); err != nil {
			return err
		}
		l.report("%5.1f s  clusterctl init", time.Since(l.begin).Seconds())
	}
	if len(sums) == 0 {
		return nil
	}
	if err := l.awaitKinds(ctx); err != nil {
		return err
	}
	for file, sum := range sums {
		if err := files.Replace(file, []byte(sum), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// readInventory returns the versions of the providers that clusterctl has installed, by label.
func (l *lab) readInventory(ctx context.Context) (map[string]string, error) {
	kube, err := NewClient(l.s)
	if err != nil {
		return nil, err
	}
	providers := &unstructured.UnstructuredList{}
	providers.SetGroupVersionKind(schema.GroupVersionKind{Group: "clusterctl.cluster.x-k8s.io", Version: "v1alpha3", Kind: "ProviderList"})
	err = kube.List(ctx, providers)
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return nil, nil // clusterctl has never been here
	}
	versions := map[string]string{}
	for _, provider := range providers.Items {
		versions[provider.GetName()], _, _ = unstructured.NestedString(provider.Object, "version")
	}
	return versions, err
}

// appliedFile remembers which components are in etcd, so it is kept and removed with etcd's data.
func (l *lab) appliedFile(m settings.Manager) string {
	return l.s.JoinPath("etcd", "applied-"+m.Label)
}

// componentsSum tells components and the values of their variables from others.
func componentsSum(s *settings.Settings, m settings.Manager, version string) (string, error) {
	sum := sha256.New()
	for _, file := range []string{provider.ComponentsFile(s, m, version), s.ClusterctlConfig()} {
		raw, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		sum.Write(raw)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// providerFlags are clusterctl's, by type of provider.
var providerFlags = map[string]string{
	"CoreProvider": "--core", "BootstrapProvider": "--bootstrap",
	"ControlPlaneProvider": "--control-plane", "InfrastructureProvider": "--infrastructure",
}

func (l *lab) initProviders(ctx context.Context, managers []settings.Manager) error {
	kube, err := NewClient(l.s)
	if err != nil {
		return err
	}
	for _, crd := range provider.StubCertManager() {
		if err := ApplyObject(ctx, kube, crd); err != nil {
			return fmt.Errorf("definitions for clusterctl: %w", err)
		}
	}
	// clusterctl takes kinds that are not served, and a namespace on its way out, for a missing cert-manager.
	if err := l.awaitKinds(ctx); err != nil {
		return err
	}
	if err := l.awaitNoProbe(ctx, kube); err != nil {
		return err
	}
	args := []string{"init"}
	for _, m := range managers {
		args = append(args, providerFlags[m.Type], m.Provider+":"+provider.InstalledVersion(l.s, m))
	}
	out, err := RunClusterctl(ctx, l.s, nil, args...)
	if err != nil {
		return err
	}
	return files.Replace(l.s.LogPath("clusterctl-init"), out, 0o644)
}

// applyComponents applies the components of an installed version, with the values that variables have.
func (l *lab) applyComponents(ctx context.Context, m settings.Manager, version string) error {
	kube, err := NewClient(l.s)
	if err != nil {
		return err
	}
	raw, err := RunClusterctl(ctx, l.s, nil, "generate", "provider", providerFlags[m.Type], m.Provider+":"+version)
	if err != nil {
		return err
	}
	objects, err := provider.DecodeDocuments(raw)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := ApplyObject(ctx, kube, object); err != nil {
			return err
		}
	}
	return nil
}

// ApplyObject sets the fields of an object, whatever others have written into them.
func ApplyObject(ctx context.Context, kube client.Client, object *unstructured.Unstructured) error {
	err := kube.Apply(ctx, client.ApplyConfigurationFromUnstructured(object.DeepCopy()), fieldOwner, client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}

// RunClusterctl runs clusterctl with the lab's configuration and returns its output. The error has its messages.
// Variables in the environment, as NAME=value, override those of the configuration.
func RunClusterctl(ctx context.Context, s *settings.Settings, environment []string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, s.BinaryPath("clusterctl"), append(args, "--config="+s.ClusterctlConfig())...)
	command.Env = append(clusterctlEnvironment(s), environment...)
	var out, errOut bytes.Buffer
	command.Stdout, command.Stderr = &out, &errOut
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("clusterctl %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(errOut.String()))
	}
	return out.Bytes(), nil
}

// clusterctlEnvironment is clusterctl's environment: its configuration, its cluster, no questions to the network.
func clusterctlEnvironment(s *settings.Settings) []string {
	return append(os.Environ(), "KUBECONFIG="+s.KubeconfigPath(), "XDG_CONFIG_HOME="+s.Dir, "CLUSTERCTL_DISABLE_VERSIONCHECK=true", "GOPROXY=off")
}

// InstallObjects applies objects of a provider that clusterctl has not installed, and waits until the API server serves their kinds.
func InstallObjects(ctx context.Context, s *settings.Settings, objects []*unstructured.Unstructured) error {
	kube, err := NewClient(s)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := ApplyObject(ctx, kube, object); err != nil {
			return err
		}
	}
	l := &lab{s: s, table: ProcessTable(s), report: func(string, ...any) {}, begin: time.Now()}
	return l.awaitKinds(ctx)
}
