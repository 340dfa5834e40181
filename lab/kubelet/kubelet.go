package kubelet

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/lab/process"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

const (
	// interval is how often a Deployment and its process are looked at.
	interval = time.Second
	// afterFailure is how long one is left alone that could not be started.
	afterFailure = time.Second
)

// RunManagers follows the managers' Deployments of the lab in dir until ctx ends.
func RunManagers(ctx context.Context, dir string, kube client.Client, log *slog.Logger) {
	var group sync.WaitGroup
	for _, m := range settings.Managers {
		w := &worker{dir: dir, manager: m, kube: kube, log: log.With("manager", m.Name), tokens: map[string]written{}}
		group.Go(func() { w.runWorker(ctx) })
	}
	group.Wait()
}

// worker follows the Deployment of one manager.
type worker struct {
	dir     string
	manager settings.Manager
	kube    client.Client
	log     *slog.Logger
	tokens  map[string]written
}

func (w *worker) runWorker(ctx context.Context) {
	logged := ""
	for {
		wait := interval
		if err := w.syncOnce(ctx); err != nil {
			wait = afterFailure
			if err.Error() != logged {
				w.log.Error("cannot apply the Deployment", "error", err)
			}
			logged = err.Error()
		} else {
			logged = ""
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// syncOnce makes the process match the Deployment, once.
func (w *worker) syncOnce(ctx context.Context) error {
	s, err := settings.Load(w.dir)
	if err != nil {
		return err
	}
	table := &process.Table{Dir: s.ProcessesPath()}
	deployment, err := FindDeployment(ctx, w.kube, w.manager)
	if err != nil {
		return err
	}
	if deployment == nil {
		return table.Stop(ctx, w.manager.Name)
	}
	if replicas := deployment.Spec.Replicas; replicas != nil && *replicas == 0 {
		if err := table.Stop(ctx, w.manager.Name); err != nil {
			return err
		}
		return w.reportStatus(ctx, deployment, false, nil)
	}
	failure := w.keepRunning(ctx, table, place{Settings: s, manager: w.manager, deployment: deployment})
	if err := w.reportStatus(ctx, deployment, true, failure); err != nil {
		return err
	}
	return failure
}

// keepRunning keeps the process running.
func (w *worker) keepRunning(ctx context.Context, table *process.Table, p place) error {
	if err := w.projectFiles(ctx, p); err != nil {
		return err
	}
	spec, err := p.processSpec(func(name, key string) (string, error) {
		secret := &corev1.Secret{}
		err := w.kube.Get(ctx, client.ObjectKey{Namespace: p.deployment.Namespace, Name: name}, secret)
		return string(secret.Data[key]), err
	})
	if err != nil {
		return err
	}
	if table.IsCurrent(spec) {
		return spec.Ready(ctx)
	}
	w.log.Info("starting", "generation", p.deployment.Generation)
	_, err = table.Start(ctx, spec)
	return err
}

// reportStatus writes the status that a Deployment with one pod would have.
func (w *worker) reportStatus(ctx context.Context, deployment *appsv1.Deployment, wanted bool, failure error) error {
	status := appsv1.DeploymentStatus{ObservedGeneration: deployment.Generation}
	available := appsv1.DeploymentCondition{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable"}
	if wanted {
		status.Replicas, status.UpdatedReplicas = 1, 1
	}
	switch {
	case wanted && failure == nil:
		status.ReadyReplicas, status.AvailableReplicas = 1, 1
	case wanted:
		available.Status, available.Reason, available.Message = corev1.ConditionFalse, "MinimumReplicasUnavailable", failure.Error()
	}
	for _, before := range deployment.Status.Conditions {
		if before.Type == available.Type && before.Status == available.Status && before.Message == available.Message {
			available.LastUpdateTime, available.LastTransitionTime = before.LastUpdateTime, before.LastTransitionTime
		}
	}
	if available.LastTransitionTime.IsZero() {
		available.LastTransitionTime, available.LastUpdateTime = metav1.Now(), metav1.Now()
	}
	status.Conditions = []appsv1.DeploymentCondition{available}
	if equality.Semantic.DeepEqual(status, deployment.Status) {
		return nil
	}
	changed := deployment.DeepCopy()
	changed.Status = status
	return client.IgnoreNotFound(w.kube.Status().Patch(ctx, changed, client.MergeFrom(deployment)))
}

// secondOperator is the Deployment that releases of the established provider have beside the manager's, with the same label. The lab has
// no program of it.
const secondOperator = "azureserviceoperator-controller-manager"

// FindDeployment returns the manager's, wherever clusterctl has put it; nil when there is none.
func FindDeployment(ctx context.Context, kube client.Client, m settings.Manager) (*appsv1.Deployment, error) {
	list := &appsv1.DeploymentList{}
	if err := kube.List(ctx, list, client.MatchingLabels{clusterv1.ProviderNameLabel: m.Label}); err != nil {
		return nil, err
	}
	list.Items = slices.DeleteFunc(list.Items, func(d appsv1.Deployment) bool { return d.Name == secondOperator })
	switch len(list.Items) {
	case 0:
		return nil, nil
	case 1:
		return &list.Items[0], nil
	}
	return nil, fmt.Errorf("%d Deployments have the label %s=%s, want one", len(list.Items), clusterv1.ProviderNameLabel, m.Label)
}
