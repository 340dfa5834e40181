package signals

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// dashboard has the fields of Grafana's dashboards that the release sets.
type dashboard struct {
	UID           string                                 `json:"uid"`
	Title         string                                 `json:"title"`
	SchemaVersion int                                    `json:"schemaVersion"`
	Templating    struct{ List []struct{ Name string } } `json:"templating"`
	Panels        []panel                                `json:"panels"`
}

type panel struct {
	ID      int
	Type    string
	Title   string
	GridPos struct{ H, W, X, Y int } `json:"gridPos"`
	Targets []struct{ Expr string }
}

// readDashboard returns the dashboard of the release.
func readDashboard(t *testing.T) dashboard {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(components, "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var out dashboard
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// fillVariables replaces the variables of a dashboard, as Grafana does with a scrape interval of a minute.
func fillVariables(expression string) string {
	return strings.NewReplacer("$__rate_interval", "4m", "$kind", ".*").Replace(expression)
}

// TestDashboard checks the layout of the dashboard, and evaluates each expression with the series of all stories. Each has data in one of them.
func TestDashboard(t *testing.T) {
	board := readDashboard(t)
	if board.UID == "" || board.Title == "" || board.SchemaVersion == 0 || len(board.Panels) == 0 {
		t.Fatalf("the dashboard has no uid, title, schemaVersion or panels: %+v", board)
	}
	ids, taken := map[int]bool{}, map[[2]int]string{}
	for _, p := range board.Panels {
		if ids[p.ID] || p.Title == "" || p.Type == "" || len(p.Targets) == 0 {
			t.Errorf("panel %d %q has an ID twice, or no title, type or targets", p.ID, p.Title)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" || x > 23 {
					t.Fatalf("panel %q overlaps %q, or is outside of the 24 columns", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
	variables := []string{"__rate_interval"}
	for _, variable := range board.Templating.List {
		variables = append(variables, variable.Name)
	}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			for _, match := range regexp.MustCompile(`\$(\w+)`).FindAllStringSubmatch(target.Expr, -1) {
				if !slices.Contains(variables, match[1]) {
					t.Errorf("panel %q: the dashboard has no variable %s", p.Title, match[1])
				}
			}
		}
	}
	data := map[string]int{}
	for _, series := range readStories(t) {
		loaded, length := loadSeries(t, series)
		loaded.WithSamplesTill(time.Unix(0, 0).Add(length), func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		})
		for _, p := range board.Panels {
			for _, target := range p.Targets {
				data[target.Expr] += len(queryRange(t, loaded, fillVariables(target.Expr), length))
			}
		}
	}
	expressions := 0
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			expressions++
			if !strings.Contains(target.Expr, "capz_") && !strings.Contains(target.Expr, `job="capz-controller-manager-metrics"`) {
				t.Errorf("panel %q: %s adds up the series of other programs", p.Title, target.Expr)
			}
			if data[target.Expr] == 0 {
				t.Errorf("panel %q: %s has no data in any story", p.Title, target.Expr)
			}
		}
	}
	t.Logf("%d panels with %d expressions", len(board.Panels), expressions)
}
