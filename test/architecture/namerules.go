package architecture

// nameRule bans names of other packages, as in "time.Now", in some directories.
type nameRule struct {
	dirs []string
	// except are directories of dirs that the rule is not for.
	except []string
	names  []string
	// files selects the files of the rule.
	files fileKind
	why   string
}

type fileKind int

const (
	productionFiles fileKind = iota
	testFiles
)

var nameRules = []nameRule{
	{
		dirs: []string{"internal/plan/...", "internal/arm", "internal/arm/types", "internal/arm/compare", "internal/defaults",
			"internal/webhook/..."},
		names: []string{"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After"},
		why:   "pure packages get the time as an argument, so that a test can set it",
	},
	{
		dirs:  []string{"internal/controller/...", "internal/reconcile/...", "internal/clusterinfra/...", "internal/status"},
		names: []string{"time.Now", "time.Since", "time.Until"},
		why:   "the clock is in reconcile.Services, and a kind gets it as Session.Now: a test of one place need not wait for the time of all",
	},
	{
		dirs: []string{"internal/arm/...", "internal/plan/...", "internal/facts/...", "internal/identity/...", "internal/webhook/...",
			"internal/controller/...", "internal/reconcile/...", "internal/clusterinfra/...", "internal/status"},
		names: []string{"os.Getenv", "os.LookupEnv", "os.Environ", "os.Exit"},
		why:   "the environment is read in cmd and internal/setup only and handed in as options",
	},
	{
		dirs: []string{"internal/..."}, except: []string{"internal/reconcile/lastwrites"},
		names: []string{"context.WithValue"},
		why: "a value in a context is an argument that no signature shows: how old a read may be is in observe.ReadOptions, who asks in " +
			"facts.Caller. Only a client that is used as controller-runtime's has no other argument for who writes",
	},
	{
		dirs: []string{"internal/arm/...", "internal/plan/...", "internal/facts/...", "internal/identity/...", "internal/webhook/...",
			"internal/controller/...", "internal/reconcile/...", "internal/clusterinfra/...", "internal/status"},
		names: []string{"time.Sleep"},
		why:   "a worker that sleeps is a worker that does not work: return when to come back",
	},
	{
		dirs: []string{"lab/...", "sim/server", "sim/store"}, except: []string{"lab/bench", "lab/command"},
		names: []string{"os.WriteFile", "k8s.io/client-go/tools/clientcmd.WriteToFile"},
		why: "a later command takes the part of a file that a full disk leaves for the whole: files.Replace leaves none. Results that users name " +
			"may be devices, which only os.WriteFile writes",
	},
	{
		dirs: []string{"api/...", "internal/...", "cmd/...", "sim/...", "lab/...", "test/..."}, files: testFiles,
		names: []string{"github.com/stretchr/testify/assert.*", "github.com/stretchr/testify/require.*", "github.com/onsi/gomega.*",
			"github.com/onsi/ginkgo/v2.*"},
		why: "tests use the testing package and go-cmp: one way to fail, and the diff shows the difference",
	},
	{
		dirs: []string{"api/...", "internal/...", "cmd/...", "sim/...", "test/..."}, files: testFiles,
		names: []string{"time.Sleep"},
		why:   "a test that sleeps is slow when it passes and flaky when it does not: use the virtual clock or a channel",
	},
}
