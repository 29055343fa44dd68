// npm run crash -- --kills N --seed S: kills a node N times, half during an import, half during derivation, and checks that no
// acknowledged data was lost. Needs the recorded bench blocks.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { serveL1 } from '#devnet/l1Server'
import { createRecordedL1 } from '#devnet/recordedL1'
import { generatePostedChain } from '#test/harness/chain/generatedChain'
import { readShared, sharedDataDir } from '#test/harness/sharedData'
import { type Aim, type Block, killedRun } from './crash/killedRun.ts'
import { randomOf } from './random.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    blocks: { type: 'string', default: '5000' },
  },
})
const [kills, blocks] = [Number(values.kills), Number(values.blocks)]

const random = randomOf(Number(values.seed))
const folder = mkdtempSync(join(tmpdir(), 'basalt-crash-'))
const file = (name: string, json: unknown): string => {
  const path = join(folder, name)
  writeFileSync(path, typeof json === 'string' ? json : JSON.stringify(json))
  return path
}

type Scenario = {
  readonly name: string
  readonly args: (datadir: string) => readonly string[]
  readonly last: Block
  readonly maxMs: number
}
type Tally = { kills: number; inCommit: number; finished: number; slowestOpenMs: number }

function must(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(`${what} (--seed ${values.seed}, data kept in ${folder})`)
}

/** Kills until the number is reached; a finished chain starts again in an empty directory. */
async function torment({ name, args, last, maxMs }: Scenario, wanted: number): Promise<Tally> {
  const tally: Tally = { kills: 0, inCommit: 0, finished: 0, slowestOpenMs: 0 }
  for (let round = 0; tally.kills < wanted || tally.finished === 0; round++) {
    const datadir = join(folder, `${name}-${round}`)
    let shown: Block[] = []
    for (let isDone = false; !isDone; ) {
      const aim: Aim | undefined = tally.kills < wanted ? { afterMs: random() * maxMs, inCommit: tally.kills % 2 === 0 } : undefined
      const run = await killedRun(args(datadir), aim, shown)
      must(run.stderr === '', `${name}: the process wrote ${run.stderr}`)
      must(run.missing.length === 0, `${name}: lost ${JSON.stringify(run.missing[0])}, which it had acknowledged`)
      const next = run.shown[0] ?? run.done
      const highest = shown.at(-1)
      must(!highest || !next || next.number >= highest.number, `${name}: went back from ${highest?.number} to ${next?.number}`)
      shown = [...shown, ...run.shown].filter((block, at, all) => all.findIndex(({ hash }) => hash === block.hash) === at).slice(-50)
      tally.slowestOpenMs = Math.max(tally.slowestOpenMs, run.openMs ?? 0)
      if (run.done) {
        must(run.done.hash === last.hash, `${name}: ended at ${run.done.number} ${run.done.hash}, not at ${last.number} ${last.hash}`)
        tally.finished++
        isDone = true
      } else {
        must(aim !== undefined, `${name}: ended by itself`)
        tally.kills++
        if (run.wasInCommit) tally.inCommit++
      }
      process.stderr.write(
        `\r${name}: ${tally.kills}/${wanted} kills, ${tally.inCommit} in a commit, ${tally.finished} chains whole, opens in <= ${tally.slowestOpenMs} ms `,
      )
    }
    rmSync(datadir, { recursive: true, force: true })
  }
  process.stderr.write('\n')
  return tally
}

const lines = readShared('bench/mixed-42-blocks.jsonl.zst').toString('utf8')
const final = (JSON.parse(lines.trim().split('\n').at(-1) ?? '{}') as { p: { blockNumber: string; blockHash: string } }).p
const benchGenesis = join(sharedDataDir, 'bench/mixed-42-blocks.genesis.json')
const payloads = file('payloads.jsonl', lines)
const imported = await torment(
  {
    name: 'import',
    args: (datadir) => ['import', datadir, benchGenesis, payloads],
    last: { number: Number(final.blockNumber), hash: final.blockHash },
    maxMs: 4_000,
  },
  Math.ceil(kills / 2),
)

process.stderr.write(`making a chain of ${blocks} blocks…\n`)
const posted = await generatePostedChain(blocks)
const l1 = createRecordedL1(posted.recording, { head: posted.recording.blocks.length - 1 })
await using server = await serveL1((exchange) => l1.reply(exchange), 0)
const genesis = file('genesis.json', posted.genesisNote)
const rollup = file('rollup.json', posted.rollupJson)
const derived = await torment(
  {
    name: 'derive',
    args: (datadir) => ['derive', datadir, genesis, rollup, server.url, String(posted.head.number)],
    last: posted.head,
    maxMs: 3_000,
  },
  Math.floor(kills / 2),
)
rmSync(folder, { recursive: true })

const inCommit = imported.inCommit + derived.inCommit
console.log(JSON.stringify({ kills: imported.kills + derived.kills, inCommit, import: imported, derive: derived }))
if (inCommit < kills / 5) {
  console.error(`only ${inCommit} kills were during a commit, expected at least ${kills / 5}`)
  process.exitCode = 1
}
if (Math.max(imported.slowestOpenMs, derived.slowestOpenMs) >= 2_000) {
  console.error('a start took 2 s or longer')
  process.exitCode = 1
}
