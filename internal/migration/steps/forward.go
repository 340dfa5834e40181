package steps

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/adoption/prepareupgrade"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration/backup"
)

// Forward moves the management cluster to this provider and returns the result for each object. A repetition continues where the last
// run ended. It changes nothing if the last migration back was interrupted.
func (m *Move) Forward(ctx context.Context) ([]Result, error) {
	if version, err := version.ParseSemantic(m.To); err != nil || !strings.HasPrefix(m.To, "v") || version.Major() < 2 {
		return nil, fmt.Errorf("version %q cannot be installed. Set --to to a version of this provider, such as v2.0.0", m.To)
	}
	azure, err := m.azureProvider(ctx)
	if err != nil {
		return nil, err
	}
	if m.progress, err = loadProgress(ctx, m.Client); err != nil {
		return nil, err
	}
	switch {
	case m.progress != nil && m.progress.direction == back:
		return nil, errors.New("a migration back was interrupted. Complete it first: kubectl capz migrate back")
	case m.progress == nil && azure.Version == m.To:
		return nil, fmt.Errorf("version %s is installed already, and no migration was begun", m.To)
	case m.progress == nil:
		m.progress = &progress{direction: forward, from: azure.Version, started: time.Now().Truncate(time.Second), observe: m.Observe}
		if err := m.progress.store(ctx, m.Client); err != nil {
			return nil, err
		}
	case azure.Version != m.progress.from && azure.Version != m.To:
		// The steps before the upgrade would stop the new manager, and delete the webhooks of an operator that a user has installed since.
		return nil, fmt.Errorf("the migration has installed version %s. Complete it with --to %[1]s. Upgrade to %s afterwards, with clusterctl",
			azure.Version, m.To)
	}
	m.Observe = m.Observe || m.progress.observe
	if m.progress.observe != m.Observe {
		m.progress.observe = m.Observe
		if err := m.progress.store(ctx, m.Client); err != nil {
			return nil, err
		}
	}
	if m.backup, err = backup.Load(ctx, m.Client); err != nil {
		return nil, err
	}
	if err := m.runSteps(ctx, m.forwardSteps()); err != nil {
		return nil, err
	}
	return m.listResults(ctx)
}

// HasBegun reports whether a migration was begun.
func (m *Move) HasBegun(ctx context.Context) (bool, error) {
	stored, err := loadProgress(ctx, m.Client)
	return stored != nil, err
}

// forwardSteps are the steps of a migration to this provider. Steps before the upgrade are done once it is: an operator that a user has
// installed since then is not touched.
func (m *Move) forwardSteps() []Step {
	upgraded := m.isVersion(m.To)
	all := []Step{
		{"backup", either(upgraded, m.hasBackup), m.storeBackup},
		{stopStep, upgraded, m.stopEstablished},
		{pauseStep, upgraded, m.pauseTopologies},
		{"operator-webhooks", either(upgraded, m.hasNoOperatorWebhooks), func(ctx context.Context) error {
			return prepareupgrade.DeleteWebhooks(ctx, m.Client)
		}},
		{"operator-objects", either(upgraded, m.isReleased), m.releaseObjects},
		{"definitions", either(upgraded, m.isConversionDisabled), m.disableConversion},
		{"service-accounts", m.hasAccounts, m.createAccounts},
		{observeStep, m.hasObserved, m.observeClusters},
		{upgradeStep, upgraded, func(ctx context.Context) error {
			return m.Clusterctl(ctx, m.installationVariables(), append([]string{"upgrade", "apply", "--infrastructure", "azure:" + m.To, "--wait-providers"},
				m.UpgradeArguments...)...)
		}},
		{"roles", m.hasNoRoles, m.deleteRoles},
		{unpauseStep, m.isUnpaused, m.unpauseTopologies},
		{"wait", m.isReconciled, m.waitReconciled},
	}
	if !m.Observe {
		all = slices.DeleteFunc(all, func(step Step) bool { return step.Name == observeStep })
	}
	return all
}

const (
	stopStep    = "stop"
	upgradeStep = "upgrade"
)

// hasBackup reports whether the backup is one of the state in which the established provider was stopped. Before it has stopped, its
// objects change.
func (m *Move) hasBackup(context.Context) (bool, error) {
	return m.backup != nil && slices.Contains(m.progress.steps, stopStep), nil
}

func (m *Move) collectBackup(ctx context.Context, earlier *backup.Backup) (*backup.Backup, error) {
	collected, err := backup.Collect(ctx, m.Client, m.progress.from, earlier)
	if err != nil {
		return nil, err
	}
	ready, err := m.readReady(ctx)
	collected.Ready = ready
	return collected, err
}

func (m *Move) storeBackup(ctx context.Context) error {
	collected, err := m.collectBackup(ctx, m.backup)
	if err != nil || equality.Semantic.DeepEqual(collected, m.backup) {
		return err
	}
	m.backup = collected
	return collected.Store(ctx, m.Client)
}

// stopEstablished stops the established provider and its operator. Then it adds the objects to the backup that they created after the backup:
// only objects in the backup can be restored.
func (m *Move) stopEstablished(ctx context.Context) error {
	if err := m.stopDeployments(ctx, establishedDeployments); err != nil {
		return err
	}
	collected, err := m.collectBackup(ctx, nil)
	if err != nil || !m.backup.AddMissing(collected) {
		return err
	}
	return m.backup.Store(ctx, m.Client)
}

// establishedDeployments are the Deployments of the established provider and of its operator, in the order in which they are stopped.
var establishedDeployments = []string{prepareupgrade.ProviderDeployment, prepareupgrade.OperatorDeployment}

// stopDeployments scales Deployments down and waits until their pods have stopped. A Deployment without replicas may still have a pod. It
// refuses an operator of a user in another namespace: the next steps change its webhooks, kinds and objects.
func (m *Move) stopDeployments(ctx context.Context, names []string) error {
	if err := prepareupgrade.WaitUntilOthersStopped(ctx, m.Client, migration.Namespace); err != nil {
		return err
	}
	for _, name := range names {
		deployment := &appsv1.Deployment{}
		err := m.Client.Get(ctx, client.ObjectKey{Namespace: migration.Namespace, Name: name}, deployment)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("get Deployment %s: %w", name, err)
		}
		if replicas := deployment.Spec.Replicas; replicas == nil || *replicas > 0 {
			before := deployment.DeepCopy()
			deployment.Spec.Replicas = new(int32(0))
			if err := m.Client.Patch(ctx, deployment, client.MergeFrom(before)); err != nil {
				return fmt.Errorf("stop Deployment %s: %w", name, err)
			}
		}
		if err := prepareupgrade.WaitUntilNoPods(ctx, m.Client, *deployment); err != nil {
			return err
		}
	}
	return nil
}

func (m *Move) hasNoOperatorWebhooks(ctx context.Context) (bool, error) {
	found, err := prepareupgrade.FindWebhooks(ctx, m.Client)
	return len(found) == 0, err
}

func (m *Move) listDefinitions(ctx context.Context) ([]apiextensionsv1.CustomResourceDefinition, error) {
	list := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := m.Client.List(ctx, list); err != nil {
		return nil, fmt.Errorf("list CustomResourceDefinitions: %w", err)
	}
	return list.Items, nil
}

func (m *Move) operatorObjects(ctx context.Context) ([]metav1.PartialObjectMetadata, error) {
	definitions, err := m.listDefinitions(ctx)
	if err != nil {
		return nil, err
	}
	objects, _, err := prepareupgrade.ListOperatorObjects(ctx, m.Client, definitions)
	return objects, err
}

func (m *Move) isReleased(ctx context.Context) (bool, error) {
	objects, err := m.operatorObjects(ctx)
	return len(objects) == 0, err
}

func (m *Move) releaseObjects(ctx context.Context) error {
	objects, err := m.operatorObjects(ctx)
	if err != nil {
		return err
	}
	missing, err := prepareupgrade.FindMissingAnnotations(ctx, m.Client, objects)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("%d objects of the operator have annotations that their resource manifests lack. Add them to the manifests: %s",
			len(missing), missing[0])
	}
	return prepareupgrade.ReleaseObjects(ctx, m.Client, objects, io.Discard)
}

func (m *Move) isConversionDisabled(ctx context.Context) (bool, error) {
	definitions, err := m.listDefinitions(ctx)
	return !slices.ContainsFunc(definitions, prepareupgrade.NeedsOperator), err
}

func (m *Move) disableConversion(ctx context.Context) error {
	definitions, err := m.listDefinitions(ctx)
	if err != nil {
		return err
	}
	return prepareupgrade.DisableConversion(ctx, m.Client, definitions, io.Discard)
}

// hasAccounts reports whether every isolated namespace has the ServiceAccount of its workload identities.
func (m *Move) hasAccounts(ctx context.Context) (bool, error) {
	for _, namespace := range m.Isolated {
		account := &corev1.ServiceAccount{}
		err := m.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: infrav1.WorkloadIdentityServiceAccount}, account)
		if err != nil {
			return false, client.IgnoreNotFound(err)
		}
	}
	return true, nil
}

func (m *Move) createAccounts(ctx context.Context) error {
	for _, namespace := range m.Isolated {
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: infrav1.WorkloadIdentityServiceAccount}}
		if err := m.Client.Create(ctx, account); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create ServiceAccount %s/%s: %w", namespace, account.Name, err)
		}
	}
	return nil
}

// listRoles returns the cluster-wide roles and bindings of the provider that a selector selects.
func (m *Move) listRoles(ctx context.Context, selector string) ([]client.Object, error) {
	matches, err := labels.Parse(selector)
	if err != nil {
		return nil, err
	}
	roles, bindings := &rbacv1.ClusterRoleList{}, &rbacv1.ClusterRoleBindingList{}
	for _, list := range []client.ObjectList{roles, bindings} {
		if err := m.Client.List(ctx, list, client.MatchingLabelsSelector{Selector: matches}); err != nil {
			return nil, fmt.Errorf("list cluster-wide roles: %w", err)
		}
	}
	var out []client.Object
	for i := range bindings.Items {
		out = append(out, &bindings.Items[i])
	}
	for i := range roles.Items {
		out = append(out, &roles.Items[i])
	}
	return out, nil
}

// Selectors of cluster-wide roles.
const (
	providerRoles    = migration.ProviderLabel + "=" + migration.ProviderName
	establishedRoles = providerRoles + ",!" + migration.SeriesLabel
	ownRoles         = providerRoles + "," + migration.SeriesLabel
)

func (m *Move) hasNoRoles(ctx context.Context) (bool, error) {
	found, err := m.listRoles(ctx, establishedRoles)
	return len(found) == 0, err
}

func (m *Move) deleteRoles(ctx context.Context) error {
	return m.deleteSelectedRoles(ctx, establishedRoles)
}

func (m *Move) deleteSelectedRoles(ctx context.Context, selector string) error {
	found, err := m.listRoles(ctx, selector)
	if err != nil {
		return err
	}
	for _, object := range found {
		if err := client.IgnoreNotFound(m.Client.Delete(ctx, object)); err != nil {
			return fmt.Errorf("delete %T %s: %w", object, object.GetName(), err)
		}
	}
	return nil
}
