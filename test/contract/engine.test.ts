import { engineClient, serveEngine } from '../harness/engineServer.ts'
import { engineContract, openExecution } from './engine.ts'

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
