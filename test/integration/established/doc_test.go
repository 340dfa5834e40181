// Package established_test installs the release over clusterctl's installation of the established provider, as `clusterctl upgrade`
// does, in an API server, and checks which objects and rights of the old provider are left. Nothing runs: it is about objects and rights.
package established_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// server is an API server without the rights that the harness gives to managers.
type server struct {
	config     *rest.Config
	kubeconfig []byte
	client     client.Client
	etcd       string // its address
}

var api server

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	root, err := harness.ModuleDir("")
	if err != nil {
		return reportFailure(err)
	}
	environment := harness.NewAPIServer(filepath.Join(root, "bin", "envtest"), filepath.Join(root, "config", "crd", "bases"))
	if api.config, err = environment.Start(); err != nil {
		return reportFailure(err)
	}
	defer func() { _ = environment.Stop() }()
	api.config.QPS = -1 // Tests read everything again and again.
	api.etcd = environment.ControlPlane.Etcd.URL.String()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return reportFailure(err)
		}
	}
	if api.client, err = client.New(api.config, client.Options{Scheme: scheme}); err != nil {
		return reportFailure(err)
	}
	user, err := environment.AddUser(envtest.User{Name: "administrator", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		return reportFailure(err)
	}
	if api.kubeconfig, err = user.KubeConfig(); err != nil {
		return reportFailure(err)
	}
	return m.Run()
}

func reportFailure(err error) int {
	fmt.Fprintln(os.Stderr, "established:", err)
	return 1
}
