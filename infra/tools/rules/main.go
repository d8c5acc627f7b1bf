// Prints, for each minute of a time range, whether an alert's expression has a result over series that a test writes.
//
// usage: rules EXPR START END < SERIES, with SERIES as Prometheus' own tests load them ("load 1m", then a series a
// line) and START and END in minutes. The output is a JSON list with the number of results of each minute.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/promqltest"
)

// failing ends the program where a test of Go would fail.
type failing struct{}

func (failing) Helper()          {}
func (failing) Cleanup(func())   {}
func (failing) FailNow()         { os.Exit(1) }
func (failing) TempDir() string  { return os.TempDir() }
func (failing) Name() string     { return "rules" }
func (failing) Logf(string, ...any) {}
func (failing) Errorf(format string, values ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", values...)
}
func (failing) Fatalf(format string, values ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", values...)
	os.Exit(1)
}

func main() {
	series, err := io.ReadAll(os.Stdin)
	check(err)
	start, err := strconv.Atoi(os.Args[2])
	check(err)
	end, err := strconv.Atoi(os.Args[3])
	check(err)
	storage := promqltest.LoadedStorage(failing{}, string(series))
	engine := promql.NewEngine(promql.EngineOpts{
		MaxSamples: 1 << 20, Timeout: time.Minute, EnableAtModifier: true, LookbackDelta: 5 * time.Minute,
	})
	counts := []int{}
	for minute := start; minute <= end; minute++ {
		query, err := engine.NewInstantQuery(
			context.Background(), storage, nil, os.Args[1], time.Unix(int64(minute)*60, 0))
		check(err)
		result := query.Exec(context.Background())
		check(result.Err)
		vector, err := result.Vector()
		check(err)
		counts = append(counts, len(vector))
	}
	check(json.NewEncoder(os.Stdout).Encode(counts))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
