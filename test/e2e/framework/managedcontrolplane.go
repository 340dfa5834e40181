package framework

import (
	"context"
	"fmt"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/external"
	"sigs.k8s.io/cluster-api/test/framework"
	"sigs.k8s.io/cluster-api/test/framework/clusterctl"
)

// ManagedControlPlaneWaiters returns the waiters of a Cluster whose control plane provider has no machines. The contract of control plane
// providers is all that they know.
func ManagedControlPlaneWaiters() clusterctl.ControlPlaneWaiters {
	wait := func(waitFor func(context.Context, WaitForManagedControlPlaneInput, ...any)) clusterctl.Waiter {
		return func(ctx context.Context, input clusterctl.ApplyCustomClusterTemplateAndWaitInput, result *clusterctl.ApplyCustomClusterTemplateAndWaitResult) {
			waitFor(ctx, WaitForManagedControlPlaneInput{Getter: input.ClusterProxy.GetClient(), Cluster: result.Cluster},
				input.WaitForControlPlaneIntervals...)
		}
	}
	return clusterctl.ControlPlaneWaiters{
		WaitForControlPlaneInitialized:   wait(WaitForManagedControlPlaneInitialized),
		WaitForControlPlaneMachinesReady: wait(WaitForManagedControlPlaneAvailable),
	}
}

// WaitForManagedControlPlaneInput is the input of the waiters for managed control planes.
type WaitForManagedControlPlaneInput struct {
	Getter  framework.Getter
	Cluster *clusterv1.Cluster
}

// WaitForManagedControlPlaneInitialized waits until the control plane provider reports that its API server answers: its
// status.initialization.controlPlaneInitialized (contract v1beta2), or status.initialized (contract v1beta1).
func WaitForManagedControlPlaneInitialized(ctx context.Context, input WaitForManagedControlPlaneInput, intervals ...any) {
	ginkgo.By(fmt.Sprintf("Waiting for the managed control plane of cluster %s to be initialized", klog.KObj(input.Cluster)))
	gomega.Eventually(func(g gomega.Gomega) {
		controlPlane := getControlPlane(ctx, g, input)
		initialized, found, err := unstructured.NestedBool(controlPlane.Object, "status", "initialization", "controlPlaneInitialized")
		g.Expect(err).NotTo(gomega.HaveOccurred())
		if !found {
			initialized, _, err = unstructured.NestedBool(controlPlane.Object, "status", "initialized")
			g.Expect(err).NotTo(gomega.HaveOccurred())
		}
		g.Expect(initialized).To(gomega.BeTrue(), "%s %s is not initialized", controlPlane.GetKind(), klog.KObj(controlPlane))
	}, intervals...).Should(gomega.Succeed(), "Timed out waiting for the control plane of cluster %s to be initialized", klog.KObj(input.Cluster))
}

// WaitForManagedControlPlaneAvailable waits until the Cluster reports that its control plane is available.
func WaitForManagedControlPlaneAvailable(ctx context.Context, input WaitForManagedControlPlaneInput, intervals ...any) {
	ginkgo.By(fmt.Sprintf("Waiting for the managed control plane of cluster %s to be available", klog.KObj(input.Cluster)))
	gomega.Eventually(func(g gomega.Gomega) {
		cluster := &clusterv1.Cluster{}
		g.Expect(input.Getter.Get(ctx, client.ObjectKeyFromObject(input.Cluster), cluster)).To(gomega.Succeed())
		available := false
		for _, condition := range cluster.Status.Conditions {
			if condition.Type == clusterv1.ClusterControlPlaneAvailableCondition {
				available = condition.Status == "True"
			}
		}
		g.Expect(available).To(gomega.BeTrue(), "Cluster %s has not %s=True", klog.KObj(cluster), clusterv1.ClusterControlPlaneAvailableCondition)
	}, intervals...).Should(gomega.Succeed(), "Timed out waiting for the control plane of cluster %s to be available", klog.KObj(input.Cluster))
}

// WaitForManagedControlPlaneVersion waits until the control plane provider reports a version of Kubernetes.
func WaitForManagedControlPlaneVersion(ctx context.Context, input WaitForManagedControlPlaneInput, version string, intervals ...any) {
	ginkgo.By(fmt.Sprintf("Waiting for the managed control plane of cluster %s to have version %s", klog.KObj(input.Cluster), version))
	gomega.Eventually(func(g gomega.Gomega) {
		controlPlane := getControlPlane(ctx, g, input)
		got, _, err := unstructured.NestedString(controlPlane.Object, "status", "version")
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(got).To(gomega.Equal(version), "status.version of %s %s", controlPlane.GetKind(), klog.KObj(controlPlane))
	}, intervals...).Should(gomega.Succeed(), "Timed out waiting for version %s of the control plane of cluster %s", version, klog.KObj(input.Cluster))
}

// getControlPlane returns the object that the Cluster names, in the version of its definition that Cluster API chooses.
func getControlPlane(ctx context.Context, g gomega.Gomega, input WaitForManagedControlPlaneInput) *unstructured.Unstructured {
	cluster := &clusterv1.Cluster{}
	g.Expect(input.Getter.Get(ctx, client.ObjectKeyFromObject(input.Cluster), cluster)).To(gomega.Succeed())
	g.Expect(cluster.Spec.ControlPlaneRef.IsDefined()).To(gomega.BeTrue(), "Cluster %s has no control plane yet", klog.KObj(cluster))
	reader, ok := input.Getter.(client.Reader)
	g.Expect(ok).To(gomega.BeTrue(), "input.Getter has to be a client.Reader")
	controlPlane, err := external.GetObjectFromContractVersionedRef(ctx, reader, cluster.Spec.ControlPlaneRef, cluster.Namespace)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return controlPlane
}
