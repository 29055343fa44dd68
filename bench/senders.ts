// Insertion of the 42 mixed blocks into an execution thread, with sender threads and without: CPU time of the threads, gas per second, and the share of
// senders that were ready. Each round uses a new data directory and new threads.
// npm run bench -- senders [--rounds 5]
import { join } from 'node:path'
import { configOfGenesis } from '#block/executionConfig'
import { parseBaseGenesisNote } from '#chainspec/baseGenesis'
import { l2RefOf } from '#chainspec/l2Ref'
import { parsePayload } from '#engine/payloadJson'
import { startExecutionWorker } from '#executionThread/executionThread'
import { SenderThreads } from '#executionThread/senderThreads'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { readShared, readSharedJson } from '#test/harness/sharedData'
import { parseHash } from '#types/ids'
import type { Payload } from '#types/payload'
import { median, type Row, row } from './format.ts'
import { threadCpuMs, threadsNamed } from './processTree.ts'
import { inFolder } from './rpc/servers.ts'

const { genesis } = parseBaseGenesisNote(readSharedJson('bench/mixed-42-blocks.genesis.json'))
const config = configOfGenesis(genesis)
const deps = { clock: systemClock, log: silentLog }

function mixedBlocks(): readonly Payload[] {
  const lines = readShared('bench/mixed-42-blocks.jsonl.zst').toString('utf8').trimEnd().split('\n')
  return lines.map((line) => {
    const { p, root } = JSON.parse(line) as { p: unknown; root: string }
    return parsePayload(p, parseHash(root))
  })
}

const cpuOf = (name: string): number => threadsNamed(name).reduce((sum, tid) => sum + threadCpuMs(tid), 0) / 1_000

type Round = { readonly executionSec: number; readonly sendersSec: number; readonly mgasPerSec: number; readonly readyPart: number }

/** @param count number of sender threads */
async function insertAll(dir: string, payloads: readonly Payload[], count: number | undefined): Promise<Round> {
  await using senders = new SenderThreads(deps, count === undefined ? {} : { count })
  await using worker = await startExecutionWorker({ ...deps, genesis: () => genesis, senders }, { dir, config, minFreeBytes: 0 })
  const heads = await worker.heads()
  const [cpuBefore, startMs] = [cpuOf('basalt execution'), performance.now()]
  for (const payload of payloads) {
    const inserted = await worker.insert(payload)
    if (inserted.kind === 'invalid') throw new Error(inserted.reason)
    await worker.setHeads({ ...heads, unsafe: l2RefOf(config, payload) })
  }
  const gas = payloads.reduce((sum, { gasUsed }) => sum + Number(gasUsed), 0)
  const mgasPerSec = gas / 1e3 / (performance.now() - startMs)
  const { ready, own } = senders.facts
  return {
    executionSec: cpuOf('basalt execution') - cpuBefore,
    sendersSec: cpuOf('basalt senders'),
    mgasPerSec,
    readyPart: ready / Math.max(1, ready + own),
  }
}

type SendersBench = { readonly rounds?: number }

export function run({ rounds = 5 }: SendersBench): Promise<readonly Row[]> {
  return inFolder('senders', async (folder) => {
    const payloads = mixedBlocks()
    const [ahead, alone]: [Round[], Round[]] = [[], []]
    for (let round = 0; round < rounds; round++) {
      ahead.push(await insertAll(join(folder, `ahead-${round}`), payloads, undefined))
      alone.push(await insertAll(join(folder, `alone-${round}`), payloads, 0))
    }
    const rowOf = (name: string, unit: string, figure: (round: Round) => number): Row => {
      const runs = alone.map(figure)
      return { ...row(name, unit, ahead.map(figure)), against: { name: 'without sender threads', value: median(runs), runs } }
    }
    const middle = (figure: (round: Round) => number): string => median(ahead.map(figure)).toFixed(3)
    const facts = {
      'senders ready': middle(({ readyPart }) => readyPart),
      'CPU seconds of sender threads': middle(({ sendersSec }) => sendersSec),
    }
    return [
      {
        ...rowOf('42 mixed blocks inserted: CPU time of the execution thread', 's, less is better', ({ executionSec }) => executionSec),
        facts,
      },
      rowOf('42 mixed blocks inserted: gas', 'Mgas/s', ({ mgasPerSec }) => mgasPerSec),
    ]
  })
}
