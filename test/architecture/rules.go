package architecture

// importRule lists the allowed imports of the packages of some directories. A directory belongs to the first rule that
// covers it; one without a rule is a finding.
type importRule struct {
	// dirs are the packages the rule is for.
	dirs []string
	// inside lists the packages of this repository that they may import; their own directory is always allowed.
	inside []string
	// outside lists other modules' packages that they may import; the standard library is allowed where notStandard does
	// not exclude it. "..." allows all.
	outside []string
	// notStandard lists packages of the standard library that they may not import.
	notStandard []string
	// tests makes the rule hold for test files, too; otherwise only neverInside does.
	tests bool
	// why is the reason of the rule, for readers of a finding.
	why string
}

var (
	kubernetesTypes = []string{"k8s.io/api/...", "k8s.io/apimachinery/...", "sigs.k8s.io/cluster-api/api/..."}
	azureModels     = []string{"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/...", "github.com/Azure/azure-sdk-for-go/sdk/azcore/to",
		"github.com/Azure/azure-sdk-for-go/sdk/azcore"}
	impure = []string{"net/http", "os", "os/...", "math/rand", "math/rand/v2", "crypto/rand"}
)

var importRules = []importRule{
	{
		dirs: []string{"api/..."}, inside: []string{"api/..."}, outside: kubernetesTypes,
		why: "consumers import the API types; they must not get a client, a controller or Azure's SDK with them",
	},
	{
		dirs: []string{"internal/arm/jsonpath"}, notStandard: impure,
		why: "a place in a body is the same for all who read and change bodies, so the notation knows none of them",
	},
	{
		dirs: []string{"internal/arm"}, inside: []string{"internal/arm/jsonpath"}, notStandard: impure,
		why: "the vocabulary is what every package speaks: plain data and pure functions on the standard library",
	},
	{
		dirs: []string{"internal/arm/types"}, inside: []string{"internal/arm", "internal/arm/schema"}, notStandard: impure[1:],
		why: "the type table is data about Azure, not code that does something",
	},
	{
		dirs: []string{"sim/definitions"}, notStandard: impure,
		why: "the definitions are data that the provider and the simulator share; each has a reader of its own, so that a bug of one is not " +
			"the other's",
	},
	{
		dirs: []string{"internal/arm/schema"}, inside: []string{"sim/definitions", "internal/arm/jsonpath"}, notStandard: impure,
		why: "Azure's definitions are the same for all callers",
	},
	{
		dirs: []string{"internal/arm/compare"}, inside: []string{"internal/arm", "internal/arm/jsonpath", "internal/arm/types", "internal/text"},
		notStandard: impure,
		why:         "comparing is pure, so that recorded traffic can test it",
	},
	{
		dirs: []string{"internal/tracing"}, inside: []string{"internal/arm"}, outside: []string{"go.opentelemetry.io/otel/..."},
		notStandard: []string{"os", "os/..."},
		why:         "traces have names, numbers and codes of other packages; only they know OpenTelemetry",
	},
	{
		dirs: []string{"internal/arm/client"}, inside: []string{"internal/arm", "internal/text", "internal/tracing"},
		outside: []string{"github.com/Azure/azure-sdk-for-go/sdk/azcore/...", "github.com/Azure/azure-sdk-for-go/sdk/azidentity",
			"github.com/go-logr/logr"},
		why: "the client speaks HTTP to Resource Manager and knows no resource type and no plan",
	},
	{
		dirs:   []string{"internal/arm/observe"},
		inside: []string{"internal/arm", "internal/arm/jsonpath", "internal/arm/types", "internal/arm/client"},
		why:    "observing reads and caches; it knows neither running operations nor the desired state",
	},
	{
		dirs:    []string{"internal/arm/operate"},
		inside:  []string{"internal/arm", "internal/arm/types", "internal/arm/client", "internal/arm/observe"},
		outside: []string{"github.com/go-logr/logr"},
		why:     "operations are followed by observing them, and invalidate the cache; the engine knows their purpose",
	},
	{
		dirs: []string{"internal/arm/engine"},
		inside: []string{"internal/arm", "internal/arm/jsonpath", "internal/arm/types", "internal/arm/compare", "internal/arm/client",
			"internal/arm/observe", "internal/arm/operate", "internal/expiring", "internal/tracing"},
		outside: []string{"github.com/go-logr/logr"},
		why:     "the engine drives every resource type by the table; it knows no kind, no plan and no Kubernetes client",
	},
	{
		dirs: []string{"internal/metrics"},
		inside: []string{"internal/arm", "internal/arm/types", "internal/arm/client", "internal/arm/observe", "internal/arm/operate",
			"internal/arm/engine"},
		outside: []string{"github.com/prometheus/client_golang/prometheus", "sigs.k8s.io/controller-runtime/pkg/metrics"},
		why:     "metrics count events of other packages; only they know Prometheus",
	},
	{
		dirs: []string{"internal/userinput"}, outside: append([]string{"sigs.k8s.io/yaml"}, kubernetesTypes...), notStandard: impure,
		why: "documents of users are decoded in one place, which knows no kind",
	},
	{
		dirs: []string{"internal/text"}, notStandard: impure,
		why: "text from outside is bounded and quoted in one place, which logs, events, conditions and commands share",
	},
	{
		dirs: []string{"internal/owner"}, outside: kubernetesTypes, notStandard: impure,
		why: "controllers, plans and checks find the owners of Cluster API by one rule",
	},
	{
		dirs: []string{"internal/expiring"}, outside: []string{"golang.org/x/sync/singleflight"}, notStandard: impure,
		why: "values that expire have one implementation, which all packages use",
	},
	{
		dirs: []string{"internal/manifest"}, outside: append([]string{"sigs.k8s.io/yaml"}, kubernetesTypes...), notStandard: impure,
		why: "conversions, adoptions and imports write manifests in one form, which knows no kind",
	},
	{
		dirs: []string{"internal/pages"}, outside: append([]string{"sigs.k8s.io/controller-runtime/pkg/client"}, kubernetesTypes...),
		why: "lists of the manager and of commands are bounded by one rule, which knows no kind",
	},
	{
		dirs: []string{"internal/nearest"}, notStandard: impure,
		why: "messages of facts and of plans share it, so it knows neither",
	},
	{
		dirs: []string{"internal/plan/...", "internal/aso/..."},
		inside: []string{"api/...", "internal/aso/...", "internal/arm", "internal/arm/compare", "internal/arm/jsonpath", "internal/arm/schema",
			"internal/arm/types", "internal/nearest", "internal/plan/...", "internal/text", "internal/userinput"},
		outside: append(append([]string{"github.com/google/uuid", "github.com/blang/semver/v4", "golang.org/x/crypto/ssh",
			"sigs.k8s.io/yaml"}, kubernetesTypes...), azureModels...),
		notStandard: impure,
		why:         "plans are pure: the same input gives the same graph, without clients, clocks, files or chance",
	},
	{
		dirs: []string{"internal/facts/..."},
		inside: []string{"api/...", "internal/arm", "internal/arm/types", "internal/arm/client", "internal/arm/observe", "internal/expiring",
			"internal/nearest", "internal/plan", "internal/plan/aks/version", "internal/plan/applied"},
		outside:     append([]string{"golang.org/x/sync/..."}, kubernetesTypes...),
		notStandard: []string{"net/http/httptest", "os", "os/..."},
		why:         "facts read from Azure into the plan's input; they do not write, and do not know engine or controllers",
	},
	{
		dirs: []string{"internal/identity/access"},
		inside: []string{"internal/text", "api/...", "internal/arm", "internal/arm/client", "internal/arm/engine", "internal/metrics",
			"internal/reconcile/deletion", "internal/reconcile/patch", "internal/status", "internal/identity",
			"internal/plan", "internal/plan/lent", "internal/plan/applied"},
		outside: []string{"..."}, notStandard: []string{"net/http", "os", "os/..."},
		why: "what controllers share serves every kind and therefore knows none",
	},
	{
		dirs: []string{"internal/identity/pkcs12"}, notStandard: impure,
		why: "files of tenants are decoded by a function whose work is bounded",
	},
	{
		dirs: []string{"internal/identity/..."}, inside: []string{"api/...", "internal/arm/client", "internal/expiring", "internal/identity/pkcs12"},
		outside: append([]string{"github.com/Azure/azure-sdk-for-go/sdk/azcore/...", "github.com/Azure/azure-sdk-for-go/sdk/azidentity/...",
			"sigs.k8s.io/controller-runtime/pkg/client"}, kubernetesTypes...),
		why: "identity is the only reader of credentials, so it depends on as little as possible",
	},
	{
		dirs: []string{"internal/defaults"}, inside: []string{"api/...", "internal/plan", "internal/plan/aks"},
		outside: kubernetesTypes, notStandard: impure,
		why: "webhooks and controllers fill in the same defaults, so the defaults know neither",
	},
	{
		dirs: []string{"internal/webhook/..."},
		inside: []string{"api/...", "internal/webhook/...", "internal/defaults", "internal/plan", "internal/plan/applied",
			"internal/plan/maxima", "internal/plan/specfield", "internal/plan/asoresource", "internal/plan/aks", "internal/plan/pool",
			"internal/aso", "internal/plan/aks/armschema", "internal/arm", "internal/text", "internal/userinput"},
		outside:     []string{"..."},
		notStandard: []string{"net/http", "os", "os/...", "math/rand", "math/rand/v2"},
		why: "defaulting and validation are pure functions of the object; asking Azure in an admission request would make it slow and " +
			"unreliable",
	},
	{
		dirs: []string{"internal/controller/azure*/..."},
		inside: []string{"api/...", "internal/plan/...", "internal/facts", "internal/identity", "internal/metrics", "internal/arm",
			"internal/arm/client", "internal/arm/engine", "internal/aso", "internal/defaults",
			"internal/identity/access", "internal/reconcile/deletion",
			"internal/controller/asoresources", "internal/clusterinfra", "internal/reconcile/lending", "internal/reconcile/lifecycle", "internal/reconcile/lastwrites",
			"internal/clusterinfra/aks", "internal/reconcile", "internal/reconcile/patch", "internal/clusterinfra/published", "internal/status",
			"internal/clusterinfra/selfmanaged", "internal/reconcile/stable", "internal/reconcile/eventlog", "internal/clusterinfra/volumes",
			"internal/clusterinfra/power", "internal/reconcile/stopping",
			"internal/owner", "internal/text", "internal/reconcile/watch"},
		outside: []string{"..."}, notStandard: []string{"net/http", "os", "os/..."},
		why: "a controller loads, asks facts, plans, converges and reports; kinds never import each other, and shared code has a package of " +
			"its own",
	},
	{
		dirs: []string{"internal/reconcile"},
		inside: []string{"api/...", "internal/arm", "internal/arm/engine", "internal/identity/access",
			"internal/reconcile/deletion", "internal/reconcile/lastwrites", "internal/reconcile/lending", "internal/reconcile/lifecycle",
			"internal/reconcile/patch", "internal/status",
			"internal/reconcile/stable", "internal/reconcile/stopping", "internal/reconcile/eventlog", "internal/reconcile/watch",
			"internal/clusterinfra/published", "internal/facts",
			"internal/identity", "internal/metrics", "internal/plan/applied", "internal/plan/lent", "internal/plan/maxima",
			"internal/plan/ownership", "internal/plan/specfield", "internal/tracing"},
		outside: []string{"..."}, notStandard: []string{"net/http", "os", "os/..."},
		why: "the runner knows what all kinds have in common, and no kind and no plan",
	},
	{
		dirs:    []string{"internal/reconcile/lending"},
		inside:  []string{"api/...", "internal/arm", "internal/arm/types", "internal/facts", "internal/plan/lent", "internal/plan/ownership"},
		outside: kubernetesTypes,
		why:     "the grants of a lent identity are applied to what any kind names",
	},
	{
		dirs: []string{"internal/reconcile/lastwrites"}, inside: []string{"internal/metrics"},
		outside: []string{"k8s.io/apimachinery/...", "sigs.k8s.io/controller-runtime/..."}, notStandard: impure,
		why: "whether a cache shows a write depends on Kubernetes alone",
	},
	{
		dirs:    []string{"internal/clusterinfra/selfmanaged"},
		inside:  []string{"api/...", "internal/identity", "internal/reconcile/deletion"},
		outside: []string{"..."}, notStandard: []string{"net/http", "os", "os/..."},
		why: "code that the kinds of a self-managed cluster share gathers the input of their plans, and does nothing with it",
	},
	{
		dirs: []string{"internal/clusterinfra/aks"},
		inside: []string{"api/...", "internal/arm", "internal/arm/client", "internal/arm/types", "internal/aso", "internal/identity/access",
			"internal/owner", "internal/reconcile/deletion", "internal/clusterinfra/published",
			"internal/facts", "internal/plan", "internal/plan/aks/...", "internal/defaults"},
		outside: []string{"..."}, notStandard: []string{"net/http", "os", "os/..."},
		why: "code that the kinds of an AKS cluster share gathers the input of their plans, and does nothing with it",
	},
	{
		dirs: []string{"internal/clusterinfra"},
		inside: []string{"api/...", "internal/arm/client", "internal/identity/access", "internal/clusterinfra/aks",
			"internal/clusterinfra/selfmanaged", "internal/facts", "internal/owner", "internal/plan", "internal/plan/cluster", "internal/plan/aks",
			"internal/defaults"},
		outside: []string{"..."}, notStandard: []string{"net/http", "os", "os/..."},
		why: "what pools of both kinds of clusters share gathers the input of their plans, and does nothing with it",
	},
	{
		dirs: []string{"internal/clusterinfra/volumes"},
		inside: []string{"api/...", "internal/arm", "internal/arm/engine", "internal/arm/types", "internal/reconcile", "internal/status",
			"internal/facts", "internal/plan/leftovers", "internal/plan/ownership"},
		outside: []string{"..."}, notStandard: []string{"net/http", "os", "os/..."},
		why: "machines and pools tag the disks of volumes by one rule, whatever their VMs are",
	},
	{
		dirs:    []string{"internal/clusterinfra/power"},
		inside:  []string{"api/...", "internal/arm", "internal/arm/engine", "internal/reconcile", "internal/plan/aks/agentpool", "internal/plan/aks/managedcluster"},
		outside: []string{"..."}, notStandard: []string{"net/http", "os", "os/..."},
		why: "both families of AKS stop and start clusters and pools by one rule",
	},
	{
		dirs: []string{"internal/controller/asoresources"},
		inside: []string{"api/...", "internal/arm", "internal/arm/client", "internal/aso", "internal/identity/access",
			"internal/reconcile/deletion", "internal/reconcile/patch", "internal/clusterinfra/aks", "internal/reconcile",
			"internal/clusterinfra/published", "internal/status", "internal/facts", "internal/plan/applied", "internal/plan/asoresource",
			"internal/text"},
		outside: []string{"..."}, notStandard: []string{"net/http", "os", "os/..."},
		why: "code that the kinds with documents share gathers the input of their plans and reports the results",
	},
	{
		dirs: []string{"internal/controller/credentialsecret"},
		inside: []string{"api/...", "internal/reconcile/deletion", "internal/controller/asoresources", "internal/reconcile/watch",
			"internal/identity"},
		outside: []string{"..."}, notStandard: []string{"net/http", "os", "os/..."},
		why: "what keeps credentials has to know everything that uses them",
	},
	{
		dirs: []string{"config/rbac"}, notStandard: impure,
		why: "the roles of the release are data",
	},
	{
		dirs: []string{"internal/rights"}, inside: []string{"config/rbac"},
		outside: append([]string{"k8s.io/client-go/kubernetes/typed/authorization/v1", "sigs.k8s.io/yaml"}, kubernetesTypes...),
		why:     "the manager's rights are compared with the roles of the release, independent of their use",
	},
	{
		dirs: []string{"internal/reconcile/*", "internal/status", "internal/clusterinfra/*"},
		inside: []string{"internal/owner", "internal/text", "api/...", "internal/arm", "internal/arm/client", "internal/arm/engine", "internal/metrics",
			"internal/reconcile/deletion", "internal/reconcile/patch", "internal/status", "internal/identity",
			"internal/plan", "internal/plan/lent", "internal/plan/applied", "internal/userinput"},
		outside: []string{"..."}, notStandard: []string{"net/http", "os", "os/..."},
		why: "what controllers share serves every kind and therefore knows none",
	},
	{
		dirs: []string{"internal/setup/..."}, inside: []string{"api/...", "internal/..."}, outside: []string{"..."},
		why: "the composition root knows the whole provider, and neither the simulator nor the lab",
	},
	{
		dirs: []string{"internal/diagnostics"}, outside: []string{"..."}, notStandard: []string{"os", "os/..."},
		why: "diagnostics of a manager are independent of its resources",
	},
	{
		dirs: []string{"internal/adoption"},
		inside: []string{"api/...", "internal/arm", "internal/arm/compare", "internal/arm/jsonpath", "internal/arm/schema",
			"internal/arm/types", "internal/plan", "internal/plan/asoresource", "internal/plan/aks", "internal/plan/aks/armschema", "internal/aso",
			"internal/defaults", "internal/manifest", "internal/webhook"},
		outside:     append([]string{"sigs.k8s.io/yaml"}, kubernetesTypes...),
		notStandard: impure,
		why:         "manifests of an adoption follow from Azure's answers alone, so that it can be tested without Azure",
	},
	{
		dirs: []string{"internal/adoption/readonly"},
		inside: []string{"api/...", "internal/adoption", "internal/arm/...", "internal/facts", "internal/plan/...", "internal/defaults",
			"internal/preview/admission", "internal/webhook"},
		outside: append([]string{"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy", "sigs.k8s.io/controller-runtime/pkg/client"},
			kubernetesTypes...),
		notStandard: []string{"os", "os/..."},
		why:         "an adoption reads as the manager does and judges by its engine; it knows no controller and writes nothing",
	},
	{
		dirs: []string{"internal/adoption/prepareupgrade"}, inside: []string{"api/...", "internal/pages", "internal/plan/asoresource"}, outside: []string{"..."},
		notStandard: []string{"net/http", "os", "os/..."},
		why:         "remains of a second operator are changed in Kubernetes alone: no client of Azure is needed",
	},
	{
		dirs: []string{"internal/adoption/transfer"},
		inside: []string{"api/...", "internal/adoption", "internal/adoption/readonly", "internal/arm",
			"internal/arm/client", "internal/arm/types", "internal/identity", "internal/plan/applied", "internal/plan/asoresource"},
		outside: []string{"..."}, notStandard: []string{"net/http", "os", "os/..."},
		why: "a transfer writes to Kubernetes alone, and proves by an adoption that Azure stays as it is",
	},
	{
		dirs: []string{"internal/adoption/command"},
		inside: []string{"internal/adoption/...", "internal/arm", "internal/arm/client", "internal/arm/types", "internal/cli/environment",
			"internal/identity", "internal/text"}, outside: []string{"..."}, notStandard: []string{"os", "os/..."},
		why: "the command line reads, prints and proves in order; no controller, and no environment but its arguments",
	},
	{
		dirs: []string{"cmd/adopt"}, inside: []string{"internal/adoption/command", "internal/identity", "internal/text"},
		outside: []string{"..."},
		why:     "the command is environment and main; everything else is in internal/adoption, where tests reach it",
	},
	{
		dirs: []string{"internal/migration"}, outside: kubernetesTypes, notStandard: impure,
		why: "findings and steps are plain data, which checks, steps and the command line share",
	},
	{
		dirs: []string{"internal/migration/former"}, inside: []string{"api/...", "internal/controller/asoresources", "internal/identity", "internal/pages"},
		outside: []string{"..."}, notStandard: []string{"net/http", "os", "os/..."},
		why: "the manager and the migration find the credentials of the established provider by one rule",
	},
	{
		dirs: []string{"internal/migration/check"},
		inside: []string{"api/...", "internal/adoption/prepareupgrade", "internal/defaults", "internal/identity", "internal/migration", "internal/migration/backup",
			"internal/migration/former", "internal/owner", "internal/pages", "internal/plan", "internal/plan/applied", "internal/plan/cluster", "internal/plan/maxima", "internal/plan/specfield",
			"internal/preview", "internal/preview/management", "internal/preview/result", "internal/text", "internal/userinput", "internal/webhook"},
		outside: []string{"..."}, notStandard: []string{"net/http", "os", "os/..."},
		why: "a check reads from Kubernetes, has plans computed, and applies the rules of the manager; it has no rules of its own and writes nothing",
	},
	{
		dirs: []string{"internal/migration/backup", "internal/migration/steps"},
		inside: []string{"api/...", "internal/adoption/prepareupgrade", "internal/identity", "internal/migration", "internal/migration/backup",
			"internal/pages", "internal/plan/applied", "internal/plan/asoresource"},
		outside: []string{"..."}, notStandard: []string{"net/http", "os", "os/..."},
		why: "steps change Kubernetes alone: a client of Azure would be one too many",
	},
	{
		dirs: []string{"internal/migration/command"},
		inside: []string{"api/...", "internal/aso", "internal/migration/...", "internal/cli/environment", "internal/preview", "internal/preview/clusterapi",
			"internal/preview/overlay", "internal/text", "internal/userinput"}, outside: []string{"..."},
		notStandard: []string{"net/http", "os", "os/..."},
		why:         "the command line starts checks and steps, and prints their results",
	},
	{
		dirs:        []string{"internal/aksengine"},
		inside:      []string{"api/...", "internal/arm", "internal/manifest", "internal/userinput", "internal/webhook"},
		outside:     append([]string{"sigs.k8s.io/yaml"}, kubernetesTypes...),
		notStandard: impure,
		why:         "manifests follow from a model of aks-engine alone, so that each value of it can be accounted for",
	},
	{
		dirs: []string{"internal/aksengine/command"}, inside: []string{"api/...", "internal/aksengine", "internal/cli/environment",
			"internal/plan", "internal/preview/admission", "internal/preview/kubernetes", "internal/text"},
		outside: []string{"..."}, notStandard: []string{"net/http"},
		why: "the command line reads a file, admits the manifests in memory and writes the result; it sends no requests",
	},
	{
		dirs: []string{"internal/importing"},
		inside: []string{"api/...", "internal/arm", "internal/arm/compare", "internal/arm/jsonpath", "internal/arm/schema", "internal/arm/types",
			"internal/defaults", "internal/manifest", "internal/plan/...", "internal/text"},
		outside:     append([]string{"sigs.k8s.io/controller-runtime/pkg/client", "sigs.k8s.io/yaml"}, kubernetesTypes...),
		notStandard: impure,
		why:         "manifests of an import follow from Azure's answers alone, so that each property of them can be accounted for",
	},
	{
		dirs:        []string{"internal/importing/survey"},
		inside:      []string{"api/...", "internal/arm", "internal/arm/types", "internal/importing", "internal/preview/overlay"},
		notStandard: []string{"os", "os/..."},
		why:         "a survey reads from Azure with a reader that can do nothing else, and judges nothing",
	},
	{
		dirs: []string{"internal/importing/command"},
		inside: []string{"api/...", "internal/arm", "internal/arm/jsonpath", "internal/cli/environment", "internal/importing/...", "internal/preview/...",
			"internal/text"},
		outside: []string{"..."}, notStandard: []string{"os", "os/..."},
		why: "the command line reads, prints and proves with a plan; it has no decisions of its own",
	},
	{
		dirs: []string{"internal/preview/manifests"}, outside: []string{"..."},
		inside:      []string{"api/...", "internal/nearest", "internal/preview/kubernetes", "internal/userinput"},
		notStandard: []string{"net/http", "os", "os/..."},
		why:         "manifests are read from the files that it is given",
	},
	{
		dirs: []string{"internal/preview/management"}, inside: []string{"api/...", "internal/owner", "internal/preview/kubernetes"}, outside: []string{"..."},
		notStandard: []string{"net/http", "os", "os/..."},
		why:         "the management cluster is read by a client that it is given, and nothing is done about it",
	},
	{
		dirs: []string{"internal/preview/result"}, inside: []string{"internal/arm", "internal/arm/compare", "internal/arm/jsonpath",
			"internal/arm/types"}, notStandard: impure,
		why: "results are plain data, and the same for the same writes",
	},
	{
		dirs: []string{"internal/preview/kubernetes"}, inside: []string{"api/..."}, outside: []string{"..."},
		notStandard: []string{"net/http", "os", "os/..."},
		why:         "the API server in memory stores objects; plans and tests share it, so it knows neither",
	},
	{
		dirs: []string{"config/gitops"}, notStandard: impure,
		why: "the health checks of the release are data",
	},
	{
		dirs: []string{"config/crd"}, notStandard: impure,
		why: "the definitions of the release are data",
	},
	{
		dirs: []string{"internal/preview/admission"}, inside: []string{"api/...", "config/crd", "internal/plan", "internal/webhook"},
		outside: []string{"..."}, notStandard: []string{"os", "os/..."},
		why: "admission in memory is that of the API server and the webhooks, for whoever stores objects",
	},
	{
		dirs: []string{"internal/preview/clusterapi"}, inside: []string{"api/...", "internal/preview/kubernetes"}, outside: []string{"..."},
		notStandard: []string{"net/http", "os", "os/..."},
		why:         "the part of Cluster API in a plan follows from its contracts, and knows nothing of this provider but its kinds",
	},
	{
		dirs: []string{"internal/preview/overlay"}, inside: []string{"internal/arm", "internal/arm/client", "internal/arm/jsonpath", "internal/arm/types", "sim/..."},
		outside: []string{"github.com/Azure/azure-sdk-for-go/sdk/azcore/..."}, notStandard: []string{"os", "os/..."},
		why: "a plan needs a simulated Azure; no other package of the provider may use it",
	},
	{
		dirs: []string{"internal/preview/..."}, inside: []string{"api/...", "internal/...", "sim/store"}, outside: []string{"..."},
		notStandard: []string{"os", "os/..."},
		why:         "a plan runs the manager's controllers, so it knows the whole provider; the manager does not know it",
	},
	{
		dirs: []string{"templates/azure-roles"}, notStandard: impure,
		why: "the role definitions of the release are data",
	},
	{
		dirs: []string{"internal/doctor"}, inside: []string{"api/...", "internal/arm", "internal/arm/client", "internal/facts", "internal/plan",
			"internal/plan/aks/version", "internal/preview/overlay", "internal/text", "templates/azure-roles"},
		outside:     append([]string{"github.com/Azure/azure-sdk-for-go/sdk/azcore/...", "sigs.k8s.io/controller-runtime/pkg/client"}, kubernetesTypes...),
		notStandard: []string{"os", "os/..."},
		why:         "checks read Azure and compare it with a plan; the plan and the credentials are given to them",
	},
	{
		dirs: []string{"internal/doctor/command"}, inside: []string{"api/...", "internal/arm", "internal/arm/client", "internal/cli/environment",
			"internal/controller/asoresources", "internal/doctor", "internal/identity", "internal/preview", "internal/preview/clusterapi",
			"internal/preview/kubernetes", "internal/preview/manifests", "internal/text"},
		outside: []string{"..."}, notStandard: []string{"net/http", "os", "os/..."},
		why: "the command line computes the plan, finds the credentials and prints the result of the checks",
	},
	{
		dirs: []string{"internal/inspect"}, inside: []string{"api/...", "internal/arm", "internal/arm/client", "internal/setup/redact", "internal/text"},
		outside: []string{"..."}, notStandard: []string{"os", "os/..."},
		why: "machines and clusters are read with clients that are given; the rules for secrets are those of the manager's log",
	},
	{
		dirs: []string{"internal/inspect/command"}, inside: []string{"api/...", "internal/arm/client", "internal/cli/environment", "internal/inspect",
			"internal/text"},
		outside: []string{"..."}, notStandard: []string{"net/http", "os", "os/..."},
		why: "the command line makes the clients of the user, and prints",
	},
	{
		dirs: []string{"internal/cli/environment"}, inside: []string{"api/...", "internal/identity", "internal/text"}, outside: []string{"..."},
		notStandard: []string{"net/http", "os", "os/..."},
		why:         "verbs share flags, connections and exit codes, and nothing else",
	},
	{
		dirs: []string{"internal/cli"}, inside: []string{"internal/..."}, outside: []string{"..."},
		notStandard: []string{"net/http", "os", "os/..."},
		why:         "the command line puts verbs together; each verb is in the package of its feature",
	},
	{
		dirs: []string{"cmd/kubectl-capz"}, inside: []string{"internal/cli", "internal/cli/environment", "internal/identity", "internal/text"},
		outside: []string{"..."},
		why:     "the command is environment and main; everything else is in internal, where tests reach it",
	},
	{
		dirs: []string{"cmd/manager"}, inside: []string{"internal/setup/...", "internal/identity", "internal/tracing"}, outside: []string{"..."},
		why: "the command is flags, environment and main; everything else is in internal/setup, where tests reach it",
	},
	{
		dirs: []string{"sim/cmd/azuresim"}, inside: []string{"sim/..."},
		outside: []string{"github.com/spf13/cobra", "github.com/spf13/pflag", "sigs.k8s.io/yaml"}, tests: true,
		why: "the simulator's command must run without the provider",
	},
	{
		dirs: []string{"sim/conformance/..."}, inside: []string{"sim/..."},
		outside: []string{"sigs.k8s.io/yaml", "go.yaml.in/yaml/v3", "github.com/google/go-cmp/cmp"}, tests: true,
		why: "recordings of real traffic judge the simulator; sharing a parser with the provider would share its bugs",
	},
	{
		dirs: []string{"sim/..."}, inside: []string{"sim/..."}, outside: []string{"sigs.k8s.io/yaml"},
		why: "the simulator stands on the standard library alone: sharing a parser or a type table with the provider would share its bugs",
	},
	{
		dirs: []string{"lab/..."}, inside: []string{"api/...", "internal/userinput", "sim/...", "lab/..."}, outside: []string{"..."},
		why: "the lab drives the same binaries and objects as users do, so it must not reach into the provider; documents of users are read as there",
	},
	{
		dirs: []string{"hack/..."}, inside: []string{"api/...", "hack/..."}, outside: []string{"..."},
		why: "tools generate and pin; the provider's logic is not theirs",
	},
	{
		dirs: []string{"test/e2e/catalog"}, notStandard: impure,
		why: "the table of specs is data, which the specs, the command and the results page share",
	},
	{
		dirs: []string{"test/e2e/..."}, inside: []string{"api/...", "internal/identity", "sim/...", "test/e2e/..."}, outside: []string{"..."},
		why: "end-to-end specs see the provider as users do; Ginkgo and Gomega come with Cluster API's framework, and only this module has them",
	},
	{
		dirs: []string{"test/..."}, inside: []string{"api/...", "config/...", "internal/...", "sim/...", "test/..."}, outside: []string{"..."},
		why: "only tests may see both the provider and the simulator; the lab has stories of its own",
	},
}

// neverInside lists imports that no file may have, tests included.
var neverInside = []importRule{
	{dirs: []string{"sim/..."}, inside: []string{"api/...", "internal/..."},
		why: "a simulator that shares code with the provider shares its bugs, also in its tests"},
	{dirs: []string{"api/...", "internal/...", "cmd/..."}, inside: []string{"lab/..."},
		why: "the lab is a module of its own that drives binaries"},
}

// maxLines is how long a file may be that no tool generated.
const maxLines = 600

// vagueNames are package names without information about the contents.
var vagueNames = []string{"util", "utils", "common", "helper", "helpers", "misc", "base", "shared"}
