package harness

import (
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// startLimit and stopLimit bound the start and the stop of a kube-apiserver and of its etcd.
const startLimit, stopLimit = 3 * time.Minute, time.Minute

// NewAPIServer returns an API server, not started, with the definitions in the folders. programs is the folder with kube-apiserver and etcd.
// envtest's own limits, ten seconds for definitions and twenty for processes, are too short for a busy machine.
func NewAPIServer(programs string, folders ...string) envtest.Environment {
	return envtest.Environment{
		BinaryAssetsDirectory:    programs,
		CRDInstallOptions:        definitionsOf(folders),
		ErrorIfCRDPathMissing:    true,
		WebhookInstallOptions:    envtest.WebhookInstallOptions{MaxTime: Patience},
		ControlPlaneStartTimeout: startLimit,
		ControlPlaneStopTimeout:  stopLimit,
	}
}

// InstallDefinitions adds the definitions in the folders to a running API server, and returns when it serves them.
func InstallDefinitions(config *rest.Config, folders ...string) error {
	_, err := envtest.InstallCRDs(config, definitionsOf(folders))
	return err
}

func definitionsOf(folders []string) envtest.CRDInstallOptions {
	return envtest.CRDInstallOptions{Paths: folders, ErrorIfPathMissing: true, MaxTime: Patience}
}
