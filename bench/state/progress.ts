const shownEveryMs = 1_000
const barWidth = 30

/** Progress on standard error with rate and time left: a bar on a terminal, otherwise a line for every tenth. */
export function createProgress(total: number, what: string): { add(count: number): void; end(): void } {
  const isTerminal = process.stderr.isTTY
  const startMs = performance.now()
  let [done, shownMs, shownTenth] = [0, startMs, 0]
  const text = (nowMs: number): string => {
    const part = Math.min(1, done / total)
    const perSec = (done * 1_000) / Math.max(1, nowMs - startMs)
    const leftSec = Math.round((total - done) / Math.max(1e-9, perSec))
    const bar = '#'.repeat(Math.round(part * barWidth)).padEnd(barWidth, '.')
    const rate = perSec >= 100 ? perSec.toFixed(0) : perSec.toFixed(1)
    return `[${bar}] ${(part * 100).toFixed(1)} %  ${rate} ${what}/s  ${Math.floor(leftSec / 60)}m ${leftSec % 60}s left`
  }
  return {
    add(count): void {
      done += count
      const tenth = Math.floor((done * 10) / total)
      if (!isTerminal && tenth === shownTenth) return
      const nowMs = performance.now()
      if (isTerminal && nowMs - shownMs < shownEveryMs) return
      shownMs = nowMs
      shownTenth = tenth
      process.stderr.write(isTerminal ? `\r${text(nowMs)}  ` : `${text(nowMs)}\n`)
    },
    end(): void {
      if (isTerminal) process.stderr.write(`\r${text(performance.now())}  \n`)
    },
  }
}
