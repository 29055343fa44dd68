const everyMs = 15_000

/** Says now and then how far a run has come, at which rate, and how much time it still needs. */
export function createProgress(totalCases: number, print: (line: string) => void): { done(cases: number): void; total(): string } {
  const startMs = performance.now()
  let printedMs = startMs
  let cases = 0
  const seconds = (): number => (performance.now() - startMs) / 1000
  const rate = (): number => cases / Math.max(seconds(), 0.001)
  return {
    done(more): void {
      cases += more
      if (performance.now() - printedMs < everyMs) return
      printedMs = performance.now()
      const leftSec = (totalCases - cases) / rate()
      print(`${cases} of ${totalCases} cases, ${Math.round(rate())}/s, ${Math.ceil(leftSec)} s left`)
    },
    total: () => `${cases} cases in ${Math.round(seconds())} s, ${Math.round(rate())}/s`,
  }
}
