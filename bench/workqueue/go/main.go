// Measures client-go's work queue. Prints "name value" lines, the same as the Rust program beside it; see bench/run.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/util/workqueue"
)

func keys(from, count int) []string {
	keys := make([]string, count)
	for i := range keys {
		n := from + i
		keys[i] = fmt.Sprintf("namespace-%d/name-%d", n%100, n)
	}
	return keys
}

func ints(from, count int) []uint64 {
	ints := make([]uint64, count)
	for i := range ints {
		ints[i] = uint64(from + i)
	}
	return ints
}

// stopwatch measures time passed, and processor time spent by all threads.
type stopwatch struct {
	wall time.Time
	cpu  time.Duration
}

func start() stopwatch {
	return stopwatch{time.Now(), cpuTime()}
}

// times are nanoseconds for each operation.
type times struct{ wall, cpu float64 }

func (s stopwatch) perOp(ops int) times {
	wall, cpu := time.Since(s.wall), cpuTime()-s.cpu
	return times{float64(wall.Nanoseconds()) / float64(ops), float64(cpu.Nanoseconds()) / float64(ops)}
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func uncontended[T comparable](keys []T) times {
	queue := workqueue.NewTyped[T]()
	rounds := 2_000_000 / len(keys)
	began := start()
	for range rounds {
		for _, key := range keys {
			queue.Add(key)
			item, _ := queue.Get()
			queue.Done(item)
		}
	}
	return began.perOp(rounds * len(keys))
}

const bursts = 10

func burst[T comparable](keys []T) times {
	queue := workqueue.NewTyped[T]()
	began := start()
	for range bursts {
		for _, key := range keys {
			queue.Add(key)
		}
		for range keys {
			item, _ := queue.Get()
			queue.Done(item)
		}
	}
	return began.perOp(bursts * len(keys))
}

func twoAndTwo[T comparable](one, two []T) times {
	queue := workqueue.NewTyped[T]()
	adds := len(one) + len(two)
	var consumers, producers sync.WaitGroup
	counts := make([]int, 2)
	for c := range counts {
		consumers.Go(func() {
			n := 0
			for {
				item, shutdown := queue.Get()
				if shutdown {
					break
				}
				n++
				queue.Done(item)
			}
			counts[c] = n
		})
	}
	began := start()
	for _, keys := range [][]T{one, two} {
		producers.Go(func() {
			for _, key := range keys {
				queue.Add(key)
			}
		})
	}
	producers.Wait()
	queue.ShutDown()
	consumers.Wait()
	elapsed := began.perOp(adds)
	if counts[0]+counts[1] != adds {
		panic("items were lost")
	}
	return elapsed
}

func delayedAdds() times {
	queue := workqueue.NewTypedDelayingQueue[uint64]()
	defer queue.ShutDown()
	count := 1_000_000
	began := start()
	for n := range uint64(count) {
		queue.AddAfter(n, time.Hour+time.Duration(n*2_654_435_761%1_000_000)*time.Millisecond)
	}
	return began.perOp(count)
}

func heap() float64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}

func delayedBytes(count int) float64 {
	before := heap()
	queue := workqueue.NewTypedDelayingQueue[uint64]()
	defer queue.ShutDown()
	for n := range uint64(count) {
		queue.AddAfter(n, time.Hour)
	}
	time.Sleep(100 * time.Millisecond) // the last ones are still in its channel
	return (heap()-before)/float64(count) - 8
}

func wakeUp() (float64, float64) {
	queue := workqueue.NewTypedDelayingQueue[uint64]()
	count := uint64(2000)
	began := time.Now()
	due := func(n uint64) time.Duration {
		return time.Duration(100_000+n*2_654_435_761%4_000_000) * time.Microsecond
	}
	late := make([]float64, 0, count)
	var getter sync.WaitGroup
	getter.Go(func() {
		for {
			item, shutdown := queue.Get()
			if shutdown {
				return
			}
			late = append(late, max(0, float64((time.Since(began)-due(item)).Nanoseconds())/1000))
			queue.Done(item)
		}
	})
	for n := range count {
		queue.AddAfter(n, due(n)-time.Since(began))
	}
	time.Sleep(4300 * time.Millisecond)
	queue.ShutDown()
	getter.Wait()
	if uint64(len(late)) != count {
		panic("items were lost")
	}
	sort.Float64s(late)
	return late[len(late)/2], late[len(late)*99/100]
}

func main() {
	only := ""
	if len(os.Args) > 1 {
		only = os.Args[1]
	}
	show := func(name string, measure func() times) {
		if strings.Contains(name, only) {
			times := measure()
			fmt.Printf("%s_ns %.1f\n%s_cpu_ns %.1f\n", name, times.wall, name, times.cpu)
		}
	}
	one, two := ints(0, 1_000_000), ints(1_000_000, 1_000_000)
	show("uncontended_int", func() times { return uncontended(one[:1000]) })
	show("uncontended_string", func() times { return uncontended(keys(0, 1000)) })
	show("burst_int", func() times { return burst(one[:100_000]) })
	show("burst_string", func() times { return burst(keys(0, 100_000)) })
	show("two_and_two_int", func() times { return twoAndTwo(one, two) })
	show("two_and_two_string", func() times { return twoAndTwo(keys(0, 500_000), keys(500_000, 500_000)) })
	// The same once more: goroutines are what a Go program has for both of our cases.
	show("two_and_two_threads_int", func() times { return twoAndTwo(one, two) })
	show("delayed_add", delayedAdds)
	if strings.Contains("delayed_bytes", only) {
		fmt.Printf("delayed_bytes %.1f\n", delayedBytes(1_000_000))
		fmt.Printf("delayed_bytes_just_grown %.1f\n", delayedBytes(1<<20+1))
	}
	if strings.Contains("wake_up", only) {
		median, p99 := wakeUp()
		fmt.Printf("wake_up_median_us %.0f\n", median)
		fmt.Printf("wake_up_p99_us %.0f\n", p99)
	}
}
