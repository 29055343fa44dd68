// npm run test:halves -- --kills N --seed S [--setup whole|apart|follow] : kills (SIGKILL) the processes of a node at random times while L1
// advances, restarts them, and checks that they recover: the recorded heads, no acknowledged block lost, no old block executed again.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { generatedProcessChain, lastL1, type ProcessChain, recordedProcessChain } from '#test/harness/process/chain'
import { killRound, type Round } from './halves/round.ts'
import { type Setup, type SetupName, setups } from './halves/setups.ts'
import { type Tally, tallyOf } from './halves/tally.ts'
import { watchHead } from './halves/watch.ts'
import { eventually } from './nodeProcess.ts'
import { randomOf } from './random.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    setup: { type: 'string', multiple: true, default: ['apart', 'follow'] },
    blocks: { type: 'string', default: '1200' },
  },
})
const wantedSetups = values.setup.map((name): SetupName => {
  if (name in setups) return name as SetupName
  throw new Error(`--setup: ${name} is not one of ${Object.keys(setups).join(', ')}`)
})
const kills = Number(values.kills)
const startMs = performance.now()

const random = randomOf(Number(values.seed))
const folder = mkdtempSync(join(tmpdir(), 'basalt-halves-'))

function showProgress(name: SetupName, rounds: readonly Round[], wanted: number): void {
  const { kills: done, togetherMs, again } = tallyOf(rounds)
  const perSec = done / ((performance.now() - setupStartMs) / 1_000)
  const left = Math.max(0, Math.ceil((wanted - done) / perSec))
  const text = `${name}: ${done}/${wanted} kills, ${(perSec * 60).toFixed(1)}/min, ${left} s left; together in <= ${togetherMs.max} ms, again <= ${again.max} blocks`
  process.stderr.write(process.stderr.isTTY ? `\r${text} ` : `${text}\n`)
}

/** Reveals L1 to its end, without a kill, and checks that every block of the chain exists. */
async function finish({ l1, chain, holders, together }: Setup): Promise<void> {
  l1.l1.reveal(lastL1(chain))
  await eventually(`${chain.name}: the whole chain`, 90_000, together)
  for (const node of holders) {
    for (const [number, { blockHash }] of chain.blocks.entries()) {
      if (number > (chain.safeHeads.at(-1) ?? 0)) break
      const block = (await node.rpc('http', 'eth_getBlockByNumber', [`0x${number.toString(16)}`, false])) as { hash: string } | null
      if (block?.hash !== blockHash) throw new Error(`${node.name}: block ${number} is ${block?.hash}, not ${blockHash}`)
    }
  }
}

/** Runs one chain from its genesis to its end, with kills. */
async function pass(name: SetupName, chain: ProcessChain, own: string, wanted: number, rounds: Round[]): Promise<void> {
  await using setup = await setups[name](chain, own)
  try {
    for (const node of setup.nodes) node.spawn()
    await Promise.all(setup.nodes.map((node) => node.up()))
    await using watches = new AsyncDisposableStack()
    const watched = setup.holders.map((node) => watches.use(watchHead(node, chain, setup.halves)))
    while (tallyOf(rounds).kills < wanted && setup.l1.l1.head < lastL1(chain)) {
      rounds.push(await killRound(setup, watched, random))
      showProgress(name, rounds, wanted)
    }
    await finish(setup)
  } catch (error) {
    const ends = setup.nodes.map((node) => `--- ${node.name}\n${node.tail()}`).join('\n')
    throw new Error(`${name}, ${chain.name}, --seed ${values.seed}, after ${rounds.length} rounds; data kept in ${own}\n${ends}`, {
      cause: error,
    })
  }
  rmSync(own, { recursive: true, force: true })
}

const recorded = [recordedProcessChain('op-ecotone-to-jovian'), recordedProcessChain('op-bedrock-to-holocene')]
const generated = Number(values.blocks) > 0 ? [await generatedProcessChain(Number(values.blocks))] : []
/** The generated chain is too old for its follower to be ready. */
const chainsOf = (name: SetupName): readonly ProcessChain[] => (name === 'follow' ? recorded : [...recorded, ...generated])

let setupStartMs = performance.now()
const result: Record<string, Tally> = {}
for (const name of wantedSetups) {
  setupStartMs = performance.now()
  // a kill of the pair takes as long as a kill of the halves: a quarter of the kills is enough
  const wanted = name === 'follow' && wantedSetups.length > 1 ? Math.ceil(kills / 4) : kills
  const rounds: Round[] = []
  const chains = chainsOf(name)
  for (let index = 0; tallyOf(rounds).kills < wanted; index++) {
    const chain = chains[index % chains.length]
    const own = join(folder, `${name}-${index}`)
    if (chain) await pass(name, chain, own, wanted, rounds)
    rmSync(own, { recursive: true, force: true })
  }
  if (process.stderr.isTTY) process.stderr.write('\n')
  result[name] = tallyOf(rounds)
}
rmSync(folder, { recursive: true, force: true })
console.log(JSON.stringify({ seed: Number(values.seed), seconds: Math.round((performance.now() - startMs) / 1_000), setups: result }))
