// Cost of the local page and of /metrics, in a node that follows a devnet with five blocks a second: processor time of the node minus that of one without both, when
// it has no viewer (Prometheus scrapes every 15 s), and with ten viewers, each of which reads the state every second as the page does. First paint in a Chromium.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { startBrowser } from '#test/harness/browser/chromium'
import { rpcCall, startCli } from '#test/harness/process/cliProcess'
import type { PageState } from '../src/page/state.ts'
import { followingFlags } from './devnet/exported.ts'
import { startDevnet } from './devnet/process.ts'
import { distribution, type Row, row } from './format.ts'
import { threadsCpuMs } from './processTree.ts'

const [viewers, scrapeMs, warmUpMs] = [10, 15_000, 30_000]
const assets = resolve(import.meta.dirname, '../src/page/assets')

const cpuMs = (pid: number): number => [...threadsCpuMs(pid).values()].reduce((sum, ms) => sum + ms, 0)

/** Reads the state every second, as the page in a browser does. */
async function view(url: string, signal: AbortSignal): Promise<void> {
  let [nextRow, newest] = [0, 0]
  while (!signal.aborted) {
    const response = await fetch(`${url}/page/state?row=${nextRow}&entry=${newest}`, { signal })
    const { history, stream } = (await response.json()) as PageState
    nextRow = history.from + history.rows.length
    newest = stream.at(-1)?.seq ?? newest
    await delay(1_000, undefined, { signal })
  }
}

async function scrape(url: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await (await fetch(`${url}/metrics`, { signal })).text()
    await delay(scrapeMs, undefined, { signal })
  }
}

/** Runs while the work does, then ends it. */
async function during(signals: readonly ((signal: AbortSignal) => Promise<void>)[], work: () => Promise<void>): Promise<void> {
  const ended = new AbortController()
  const running = signals.map((run) => run(ended.signal).catch(() => {}))
  await work()
  ended.abort()
  await Promise.all(running)
}

async function paints(url: string, rounds: number): Promise<readonly number[]> {
  await using browser = await startBrowser()
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const page = await browser.newPage()
    await page.open(url)
    await page.until('performance.getEntriesByName("first-contentful-paint").length === 1')
    times.push(await page.evaluate<number>('performance.getEntriesByName("first-contentful-paint")[0].startTime'))
    await page.evaluate('location.href = "about:blank"')
  }
  return times
}

export async function run({ rounds = 8, seconds = 15 }: { readonly rounds?: number; readonly seconds?: number }): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'basalt-page-'))
  try {
    await using devnet = await startDevnet('memory', 10)
    const { chain, inputs } = await followingFlags(devnet, join(folder, 'chain'))
    const ports = ['http.port', 'ws.port', 'rollup.port'].flatMap((flag) => [`--${flag}`, '0'])
    const start = (name: string, metricsPort: string) =>
      startCli([
        'node',
        ...chain,
        ...inputs,
        ...ports,
        '--metrics.port',
        metricsPort,
        '--datadir',
        join(folder, name),
        '--log.format',
        'json',
      ])
    await using plain = start('plain', 'off')
    await using shown = start('shown', '0')
    await plain.until(/"node started"/)
    const [, url = ''] = await shown.until(/"metrics":"([^"]+)"/)
    await delay(warmUpMs)

    const alone: number[] = []
    const watched: number[] = []
    const measure = async (into: number[]): Promise<void> => {
      const pids = [shown, plain].map(({ child }) => child.pid ?? 0)
      const before = pids.map(cpuMs)
      const fromMs = performance.now()
      await delay(seconds * 1_000)
      const [used = 0, base = 0] = pids.map((pid, at) => cpuMs(pid) - (before[at] ?? 0))
      into.push(((used - base) / (performance.now() - fromMs)) * 100)
    }
    for (let round = 0; round < rounds; round++) {
      await during([(signal) => scrape(url, signal)], () => measure(alone))
      await during(
        [(signal) => scrape(url, signal), ...Array.from({ length: viewers }, () => (signal: AbortSignal) => view(url, signal))],
        () => measure(watched),
      )
    }
    const head = Number(await rpcCall(devnet.urls.rpc, 'eth_blockNumber'))
    const bytes = ['index.html', 'page.js', 'page.css'].reduce((sum, name) => sum + gzipSync(readFileSync(join(assets, name))).length, 0)
    return [
      {
        ...row('page and metrics, no viewer: processor time (lower is better, at most 1)', '% of a core', alone),
        facts: { seconds, head },
      },
      row(`page and metrics, ${viewers} viewers: processor time (lower is better, at most 5)`, '% of a core', watched),
      distribution('first contentful paint on loopback (lower is better, at most 500)', 'ms', await paints(url, 10)),
      row('files of the page, compressed (lower is better, at most 120)', 'kB', [bytes / 1_000]),
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
