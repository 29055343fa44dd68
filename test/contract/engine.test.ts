import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ExecutionWorker, startExecutionWorker } from '#execution/executionWorker'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { engineClient, serveEngine } from '../harness/engineServer.ts'
import { type EngineChain, engineContract, openExecution } from './engine.ts'

engineContract('in process', async (chain) => {
  const execution = openExecution(chain)
  return { engine: execution, [Symbol.asyncDispose]: () => execution[Symbol.asyncDispose]() }
})

engineContract('over HTTP', async (chain) => {
  const execution = openExecution(chain)
  const server = await serveEngine({ execution, engine: execution, config: chain.config })
  return {
    engine: engineClient(server.url, chain.config),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await execution[Symbol.asyncDispose]()
    },
  }
})

/** A worker over files of its own, which go with it. */
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

engineContract('in a worker', async (chain) => {
  const worker = await startWorker(chain)
  return { engine: worker, [Symbol.asyncDispose]: () => worker[Symbol.asyncDispose]() }
})

engineContract('in a worker, over HTTP', async (chain) => {
  const worker = await startWorker(chain)
  const server = await serveEngine({ execution: worker, engine: worker, config: chain.config })
  return {
    engine: engineClient(server.url, chain.config),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await worker[Symbol.asyncDispose]()
    },
  }
})
