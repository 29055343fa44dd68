// npm run test:page -- [--minutes 60] [--json FILE]: the page of a devnet in a Chromium, under five blocks and one transaction a second. It shows the head at
// each look, reports no error, and its memory stays flat. Needs the Debian package chromium.
import { writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { toHex } from '#lib/hex'
import { startBrowser } from '#test/harness/browser/chromium'
import { signed } from '#test/harness/chain/devnetTransactions'
import { rpcCall } from '#test/harness/process/cliProcess'
import { describe, median } from '../bench/format.ts'
import { residentMb } from '../bench/processTree.ts'
import { type Started, startDevnetProcess } from './devnet/process.ts'

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '60' }, json: { type: 'string' } } })
const minutes = Number(values.minutes)
/** The page keeps ten minutes of its own samples: memory grows until then. */
const warmUpMs = Math.min(11, minutes / 3) * 60_000
const lookMs = Math.min(30_000, minutes * 3_000)
/** Blocks that the newest block of the page may be behind the head: four seconds. */
const maxLag = 20
/** Longest look that counts: in a longer one the machine stopped this program between the two readings, and the look is repeated. */
const [maxReadingMs, maxReadings] = [500, 20]
/** Highest growth from the first to the last quarter after the warm-up: rows of the history, one in ten seconds, are kept for six hours. */
const maxGrowth = { heapKb: 1.1, nodes: 1.05, browserMb: 1.1 }

/** Repeats a call once: the server may close an idle connection in the instant at which the call begins. */
const call = (url: string, method: string, params: readonly unknown[] = []): Promise<unknown> =>
  rpcCall(url, method, params).catch(() => rpcCall(url, method, params))

type Look = Readonly<Record<keyof typeof maxGrowth | 'atSec' | 'lag' | 'devnetMb', number>>

const looks: Look[] = []
const failures: string[] = []
{
  await using devnet = await startDevnetProcess('memory')
  const { urls, chainId, accounts } = devnet.started as Started
  const [account] = accounts
  if (account === undefined) throw new Error('a devnet has accounts')
  await using browser = await startBrowser()
  const page = await browser.newPage()
  await page.look({ width: 1_440, height: 900, scheme: 'light' })
  await page.open(urls.control)
  const newest = 'document.querySelector(\'[aria-label="List of blocks and flashblocks"] tbody td\')?.textContent.replace(/\\D/g, "")'
  await page.until(`document.querySelectorAll("canvas").length === 8 && ${newest} > 0`)

  const beganMs = performance.now()
  const ended = new AbortController()
  const sending = (async (): Promise<void> => {
    for (let nonce = 0n; !ended.signal.aborted; nonce++) {
      const { raw } = signed(account.privateKey, nonce, { chainId: BigInt(chainId), value: 1n })
      await call(urls.rpc, 'eth_sendRawTransaction', [toHex(raw)]).catch((error: unknown) => {
        if (!/already known|nonce too low/.test(String(error))) throw error // a repeated call
      })
      await delay(1_000, undefined, { signal: ended.signal }).catch(() => {})
    }
  })()
  sending.catch((error: unknown) => failures.push(`transactions: ${String(error)}`))
  /** Returns the blocks that the page is behind the head, which is read last. */
  const readLag = async (): Promise<number> => {
    for (let readings = 1; ; readings++) {
      const fromMs = performance.now()
      const shown = Number(await page.evaluate<string>(newest))
      const lag = Number(await call(urls.rpc, 'eth_blockNumber')) - shown
      if (performance.now() - fromMs < maxReadingMs || readings === maxReadings) return lag
    }
  }
  while (performance.now() - beganMs < minutes * 60_000) {
    await delay(lookMs)
    const lag = await readLag()
    const { heapBytes, nodes } = await page.memory()
    const atSec = Math.round((performance.now() - beganMs) / 1_000)
    const devnetMb = Math.round(residentMb(devnet.cli.child.pid ?? 0).own)
    looks.push({ atSec, lag, heapKb: Math.round(heapBytes / 1_024), nodes, browserMb: Math.round(residentMb(browser.pid).own), devnetMb })
    console.error(JSON.stringify(looks.at(-1)))
    if (lag > maxLag) failures.push(`at ${atSec} s the page is ${lag} blocks behind the head`)
  }
  ended.abort()
  await sending.catch(() => {})
  failures.push(...page.errors)
}

const settled = looks.filter(({ atSec }) => atSec * 1_000 >= warmUpMs)
const quarter = Math.max(1, settled.length >> 2)
const growth = Object.fromEntries(
  (Object.keys(maxGrowth) as (keyof typeof maxGrowth)[]).map((name) => {
    const of = (some: readonly Look[]): number => median(some.map((look) => look[name]))
    const [first, last] = [of(settled.slice(0, quarter)), of(settled.slice(-quarter))]
    if (last > first * maxGrowth[name]) failures.push(`${name} grew from ${first} to ${last}`)
    return [name, { first, last }]
  }),
)
const result = {
  minutes,
  looks: looks.length,
  lag: { median: median(looks.map(({ lag }) => lag)), max: Math.max(...looks.map(({ lag }) => lag)) },
  growth,
  failures,
}
console.log(JSON.stringify(result))
const { suite, commit, machine, date } = describe('pageHours', [])
if (values.json)
  writeFileSync(values.json, `${JSON.stringify({ suite, commit, machine, date, ...result, samples: looks }, undefined, 2)}\n`)
console.log(failures.length === 0 ? '1 passed, 0 failed' : '0 passed, 1 failed')
process.exit(failures.length === 0 ? 0 : 1)
