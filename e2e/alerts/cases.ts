import { rmSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { open } from 'lmdb'
import { openProofsKv } from '#store/proofsTables'
import { proofsTables } from '#store/tables'
import type { World } from './world.ts'

/** A fault of the devnet or of its node, and its end. */
export type FaultCase = {
  readonly name: string
  /** alerts that fire in it, `NAME` or `NAME:reason`, and end after it */
  readonly alerts: readonly string[]
  /** The end restarts a half. Times are so short here that BasaltDown fires in it and keeps back that other alerts are resolved. */
  readonly restarts?: true
  begin(world: World): Promise<void>
  end(world: World): Promise<void>
}

/** ABI uint64[] */
const encoded = (times: readonly number[]): string =>
  `0x${[32, times.length, ...times].map((one) => one.toString(16).padStart(64, '0')).join('')}`
/** More forks than this version knows, the last one in five days. */
const unknownForks = (): string => encoded([...Array.from({ length: 40 }, () => 0), Math.floor(Date.now() / 1000) + 5 * 86_400])
const otherBlobs = (chainId: number): object => ({
  current: { activationTime: 0, chainId: `0x${chainId.toString(16)}`, blobSchedule: { target: 1, max: 2, baseFeeUpdateFraction: 12_345 } },
})

/** Calls above the limit of a client, until the signal. */
async function flood(url: string, signal: AbortSignal): Promise<void> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params: ['latest', true] })
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
  while (!signal.aborted) {
    await Promise.all(
      Array.from({ length: 20 }, () =>
        fetch(url, init)
          .then((response) => response.text())
          .catch(() => ''),
      ),
    )
    await delay(100)
  }
}

let flooding = new AbortController()
let lock: { release(): Promise<void> } | undefined

/** Holds the lock of the writers of an LMDB environment, as another program could. */
function holdWriter(path: string): { release(): Promise<void> } {
  const environment = open({ path, noSync: true })
  const { promise, resolve } = Promise.withResolvers<void>()
  const held = environment.transaction(() => promise)
  return {
    async release() {
      resolve()
      await held
      await environment.close()
    },
  }
}

/** Cuts off a row of recorded proofs that the recorder reads in each step. */
async function damage(dir: string): Promise<void> {
  await using kv = openProofsKv(dir)
  kv.write((tx) => tx.put(proofsTables.meta.id, new TextEncoder().encode('proofs.wanted'), new Uint8Array(3)))
}

/** Restarts the execution half with a variable of the environment, and without it at the end. */
const executionWith = (variable: string, value: string): Pick<FaultCase, 'restarts' | 'begin' | 'end'> => ({
  restarts: true,
  async begin(world) {
    world.env[variable] = value
    await world.restart('execution')
  },
  async end(world) {
    delete world.env[variable]
    await world.restart('execution')
  },
})

export const cases: readonly FaultCase[] = [
  {
    name: 'the execution half is killed',
    alerts: ['BasaltDown', 'BasaltEngineFailing', 'BasaltNotReady:WAITING'],
    begin: ({ execution }) => execution.kill(),
    async end({ execution }) {
      execution.spawn()
      await execution.up()
    },
  },
  {
    name: 'the execution half is restarted four times',
    alerts: ['BasaltRestarting'],
    async begin(world) {
      for (let i = 0; i < 4; i++) {
        await world.restart('execution')
        await delay(3_000)
      }
    },
    end: async () => {},
  },
  {
    name: 'L1 is gone',
    alerts: ['BasaltL1Down'],
    async begin({ l1 }) {
      l1.isGone = true
    },
    async end({ l1 }) {
      l1.isGone = false
    },
  },
  {
    name: 'L1 returns heads and no receipts',
    alerts: ['BasaltSyncStuck', 'BasaltFaultsRepeating'],
    async begin({ l1 }) {
      l1.refused = ['eth_getBlockReceipts', 'eth_getBlockByHash']
    },
    async end({ l1 }) {
      l1.refused = []
    },
  },
  {
    name: 'the sequencer pauses',
    alerts: ['BasaltHeadStalled'],
    begin: async ({ devnet }) => void (await devnet.control('devnet_pauseSequencer', 40)),
    end: async () => {},
  },
  {
    name: 'the batcher stops',
    alerts: ['BasaltSafeHeadOld'],
    begin: async ({ devnet }) => void (await devnet.control('devnet_stopBatcher', 60)),
    end: async () => {},
  },
  {
    name: 'L1 is reorganised ten times',
    alerts: ['BasaltDerivationResets'],
    async begin({ devnet }) {
      for (let i = 0; i < 10; i++) {
        await devnet.control('devnet_reorgL1', 3)
        await delay(4_000)
      }
    },
    end: async () => {},
  },
  {
    name: 'L1 publishes a fork that this version does not know',
    alerts: ['BasaltForkUnsupported', 'BasaltForkScheduleDiffers'],
    restarts: true,
    async begin(world) {
      world.l1.lie = ({ method, params }) =>
        method === 'eth_call' && JSON.stringify(params).includes('0x26fadbe2') ? unknownForks() : undefined
      await world.restart('consensus')
    },
    async end(world) {
      world.l1.lie = () => undefined
      await world.restart('consensus')
    },
  },
  {
    name: 'L1 reports another blob schedule',
    alerts: ['BasaltL1BlobScheduleDiffers'],
    restarts: true,
    async begin(world) {
      world.l1.lie = ({ method }) => (method === 'eth_config' ? otherBlobs(world.devnet.started.l1ChainId) : undefined)
      await world.restart('consensus')
    },
    async end(world) {
      world.l1.lie = () => undefined
      await world.restart('consensus')
    },
  },
  {
    name: 'the only peer is cut off',
    alerts: ['BasaltNoPeers'],
    async begin({ peer }) {
      peer.setMode({ kind: 'cut' })
    },
    async end({ peer }) {
      peer.setMode({ kind: 'pass' })
    },
  },
  {
    name: 'the main thread is busy',
    alerts: ['BasaltMainThreadBusy'],
    begin: async ({ busyFile }) => writeFileSync(busyFile, ''),
    end: async ({ busyFile }) => rmSync(busyFile),
  },
  {
    name: 'a client sends more calls than its limit',
    alerts: ['BasaltCallsRefused'],
    async begin({ execution }) {
      flooding = new AbortController()
      void flood(execution.url('http'), flooding.signal)
    },
    end: async () => flooding.abort(),
  },
  {
    name: 'the execution half has little memory',
    alerts: ['BasaltMemoryShort'],
    ...executionWith('BASALT_MEMORY_MAX', '150MB'),
  },
  {
    name: 'the disk is below --db.min-free',
    alerts: ['BasaltDiskFilling', 'BasaltNotReady:DISK_LOW'],
    ...executionWith('BASALT_DB_MIN_FREE', '1000000GB'),
  },
  {
    name: 'another program holds the lock of the proofs',
    alerts: ['BasaltProofsBehind'],
    async begin({ proofsDir }) {
      lock = holdWriter(proofsDir)
    },
    end: async () => lock?.release(),
  },
  {
    name: 'a row of the proofs is damaged',
    alerts: ['BasaltProofsStopped'],
    restarts: true,
    async begin({ execution, proofsDir }) {
      await execution.stop()
      await damage(proofsDir)
      execution.spawn()
      await execution.up()
    },
    async end({ execution, proofsDir }) {
      await execution.stop()
      rmSync(proofsDir, { recursive: true })
      execution.spawn()
      await execution.up()
    },
  },
]
