import type { MessagePort } from 'node:worker_threads'
import type { Engine } from '#engine/port'
import { packPayload, unpack } from './workerBlocks.ts'
import type { WorkerOutbox } from './workerOutbox.ts'
import { type EngineAnswers, type EngineCall, type EngineMethod, sendError, type ToWorker } from './workerProtocol.ts'

async function answerTo(engine: Engine, call: EngineCall): Promise<EngineAnswers[EngineMethod]> {
  switch (call.method) {
    case 'insert':
      return engine.insert(unpack(call.payload))
    case 'build': {
      const result = await engine.build(call.parent, unpack(call.attributes))
      return result.kind === 'built' ? { kind: 'built', payload: packPayload(result.payload) } : result
    }
    case 'setHeads':
      await engine.setHeads(call.heads)
      return undefined
    case 'heads':
      return engine.heads()
    case 'payload': {
      const payload = await engine.payload(call.at)
      return payload && packPayload(payload)
    }
    case 'storageRoot':
      return engine.storageRoot(call.account, call.block)
  }
}

/**
 * Answers the calls of an `ExecutionClient` out of an engine, in any order; what the engine throws is the answer too.
 * @returns when the other end has asked to close, and every call before that is answered
 */
export async function serveEngine(port: MessagePort, engine: Engine, outbox: WorkerOutbox): Promise<void> {
  const running = new Set<Promise<void>>()
  async function answer(id: number, call: EngineCall): Promise<void> {
    try {
      outbox.send({ kind: 'answer', id, answer: await answerTo(engine, call) })
    } catch (error) {
      outbox.send({ kind: 'refusal', id, error: sendError(error) })
    }
  }
  await new Promise<void>((resolve) => {
    const onMessage = (message: ToWorker): void => {
      if (message.kind === 'call') {
        const one = answer(message.id, message.call).finally(() => running.delete(one))
        running.add(one)
      }
      if (message.kind === 'close') {
        port.off('message', onMessage)
        resolve()
      }
    }
    port.on('message', onMessage)
  })
  await Promise.all(running)
}
