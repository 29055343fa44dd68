// npm run test:hostile -- [--minutes N] [--only TEXT] [--json FILE] [--keep]: every attack at once against a devnet and a second verifier of it in two
// processes. The verifier stays within 5 s of the sequencer, health listeners answer within 500 ms, no process exceeds 1.2 GB.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { describe } from '../bench/format.ts'
import { agreesBeyond } from './devnet/process.ts'
import { hostilePublisher, hostileSource } from './hostile/attackers.ts'
import { attacks } from './hostile/attacks.ts'
import { startVictims } from './hostile/victims.ts'
import { bounds, watch } from './hostile/watch.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    only: { type: 'string', default: '' },
    json: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
})

const percentile = (list: readonly number[], share: number): number =>
  list.toSorted((a, b) => a - b)[Math.floor(share * (list.length - 1))] ?? 0
const spread = (list: readonly number[]): Readonly<Record<'min' | 'median' | 'p99' | 'max', number>> => {
  const [min, median, p99, max] = [0, 0.5, 0.99, 1].map((share) => Math.round(percentile(list, share)))
  return { min: min ?? 0, median: median ?? 0, p99: p99 ?? 0, max: max ?? 0 }
}

const isChosen = (name: string): boolean => name.includes(values.only)

const folder = mkdtempSync(join(tmpdir(), 'basalt-hostile-'))
let failures: readonly string[]
{
  await using victims = await startVictims(folder)
  const urls = victims.devnet.started.urls as Readonly<Record<string, string>>
  await using source = await hostileSource(victims.config, urls['rpc'] ?? '', isChosen('source'))
  await using publisher = await hostilePublisher(urls['flashblocks'] ?? '', isChosen('publisher'))
  await victims.startVerifier({ source: source.url, flashblocks: publisher.url })

  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(), Number(values.minutes) * 60_000)
  const chosen = attacks.filter(({ name }) => isChosen(name))
  const struck = Promise.all(chosen.map(async ({ name, run }) => [name, await run(victims, stop.signal)] as const))
  const seen = await watch(victims, stop.signal)
  clearTimeout(timer)
  stop.abort()
  const strikes = Object.fromEntries([...(await struck), ['hostile source blocks', source.sent], ['hostile flashblocks', publisher.sent]])
  const { unsafe } = (await victims.devnet.status()).sequencer
  if (victims.deaths().length === 0) await agreesBeyond(victims.devnet, unsafe, 120_000)
  failures = seen.failures
  const residentMb = Object.fromEntries(Object.entries(seen.residentBytes).map(([name, bytes]) => [name, Math.round(bytes / 2 ** 20)]))
  const measured = { samples: seen.lagSec.length, lagSec: spread(seen.lagSec), healthMs: spread(seen.healthMs), residentMb }
  const result = { minutes: Number(values.minutes), bounds, ...measured, strikes, failures: failures.length }
  console.log(JSON.stringify(result))
  const { suite, commit, machine, date } = describe('hostile', [])
  if (values.json) writeFileSync(values.json, `${JSON.stringify({ suite, commit, machine, date, ...result }, undefined, 2)}\n`)
}
if (values.keep || failures.length > 0) process.stderr.write(`data kept in ${folder}\n`)
else rmSync(folder, { recursive: true, force: true })
console.log(failures.length === 0 ? '1 passed, 0 failed' : '0 passed, 1 failed')
process.exit(failures.length === 0 ? 0 : 1)
