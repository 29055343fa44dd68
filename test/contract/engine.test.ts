import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ExecutionWorker, startExecutionWorker } from '#executionThread/executionThread'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { createListedPool } from '../harness/chain/buildPool.ts'
import { engineClient, serveEngine } from '../harness/engine/server.ts'
import { sampleOf } from '../harness/sample.ts'
import { type EngineChain, engineContract, openExecution } from './engine.ts'
import { enginePoolContract, type OpenPooledEngine } from './enginePool.ts'

function bothContracts(adapter: string, open: (chain: EngineChain) => Promise<OpenPooledEngine>): void {
  engineContract(adapter, open)
  enginePoolContract(adapter, open)
}

bothContracts('in process', async (chain) => {
  const pool = createListedPool()
  const execution = openExecution(chain, pool)
  return {
    engine: execution,
    add: async (raw) => pool.add(raw),
    turn: () => new Promise((resolve) => setImmediate(resolve)),
    [Symbol.asyncDispose]: () => execution[Symbol.asyncDispose](),
  }
})

bothContracts('over HTTP', async (chain) => {
  const pool = createListedPool()
  const execution = openExecution(chain, pool)
  const server = await serveEngine({ execution, engine: execution, config: chain.config })
  return {
    engine: engineClient(server.url, chain.config),
    add: async (raw) => pool.add(raw),
    turn: () => new Promise((resolve) => setImmediate(resolve)),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await execution[Symbol.asyncDispose]()
    },
  }
})

/** Starts a worker on files of its own, which are deleted with it. */
async function startWorker({ config, genesis }: EngineChain): Promise<ExecutionWorker> {
  const dir = mkdtempSync(join(tmpdir(), 'basalt-engine-'))
  const deps = { genesis: () => genesis, clock: systemClock, log: silentLog }
  const worker = await startExecutionWorker(deps, { dir: join(dir, 'chain'), config, minFreeBytes: 0 })
  worker.ended.catch(() => {})
  const end = worker[Symbol.asyncDispose].bind(worker)
  return Object.assign(worker, {
    async [Symbol.asyncDispose]() {
      await end()
      rmSync(dir, { recursive: true })
    },
  })
}

async function openWorker(chain: EngineChain): Promise<OpenPooledEngine> {
  const worker = await startWorker(chain)
  return {
    engine: worker,
    add: (raw) => worker.pool.add(raw),
    turn: () => worker.pool.size(),
    [Symbol.asyncDispose]: () => worker[Symbol.asyncDispose](),
  }
}

async function openWorkerOverHttp(chain: EngineChain): Promise<OpenPooledEngine> {
  const worker = await startWorker(chain)
  const server = await serveEngine({ execution: worker, engine: worker, config: chain.config })
  return {
    engine: engineClient(server.url, chain.config),
    add: (raw) => worker.pool.add(raw),
    turn: () => worker.pool.size(),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await worker[Symbol.asyncDispose]()
    },
  }
}

// The sample has each half of these adapters alone: the client and the server of the thread in src/executionThread/executionClient.test.ts. Threads run in
// test/faults/executionWorker.test.ts, src/node/modes.test.ts drives a thread over HTTP.
enginePoolContract('in a worker', openWorker)
if (sampleOf(false, true)) engineContract('in a worker', openWorker)
if (sampleOf(false, true)) bothContracts('in a worker, over HTTP', openWorkerOverHttp)
