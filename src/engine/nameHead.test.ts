import { expect, it } from 'vitest'
import { l2RefOf } from '#chainspec/l2Ref'
import { builtBy, openExecution } from '#test/contract/engine'
import { attributesAt, scheduleTo, smallChain } from '#test/harness/chain/blocks'
import { engineClient, serveEngine } from '#test/harness/engine/server'
import { hashHeader } from '#types/header'
import type { Payload } from '#types/payload'
import { headerOfPayload } from './payloadHeader.ts'
import type { Engine } from './port.ts'

const schedule = scheduleTo('jovian')
const chain = smallChain(schedule)
const { config } = chain
const refOf = (payload: Payload) => l2RefOf(config, payload)
const refused = expect.objectContaining({ code: 'INVALID_FORKCHOICE' })

/** Builds a chain of blocks on genesis. */
async function blocksOf(engine: Engine, count: number, branch = 0): Promise<readonly Payload[]> {
  const payloads: Payload[] = []
  let parent = (await engine.heads()).unsafe
  for (let number = 1; number <= count; number++) {
    const payload = await builtBy(engine, parent, attributesAt(schedule, number, [], branch))
    parent = refOf(payload)
    payloads.push(payload)
  }
  return payloads
}

async function opened() {
  const execution = openExecution(chain)
  const server = await serveEngine({ execution, engine: execution, config })
  return { execution, engine: engineClient(server.url, config), [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

it('engine/engineHttp: a block is named as the head, also when its ancestors are missing', async () => {
  await using half = await opened()
  const [first, second, third] = await blocksOf(openExecution(chain), 3)
  if (!first || !second || !third) expect.fail('no blocks')
  expect(await half.engine.nameHead(third)).toBe(false)
  expect((await half.execution.heads()).unsafe.number).toBe(0)
  for (const payload of [first, second]) await half.engine.insert(payload)
  expect(await half.engine.nameHead(third)).toBe(true)
  expect(await half.execution.heads()).toMatchObject({ unsafe: { number: 3, hash: third.blockHash }, safe: { number: 0 } })
})

it('engine/engineHttp: no branch without the safe block becomes the chain by its name', async () => {
  await using half = await opened()
  const [mine, others] = [await blocksOf(half.execution, 2), await blocksOf(openExecution(chain), 3, 5)]
  const [safe, last] = [mine[1], others[2]]
  if (!safe || !last) expect.fail('no blocks')
  await half.engine.setHeads({ ...(await half.execution.heads()), unsafe: refOf(safe), safe: refOf(safe) })
  for (const payload of others) await half.engine.insert(payload)
  await expect(half.engine.nameHead(last)).rejects.toEqual(refused)
  expect(await half.execution.heads()).toMatchObject({ unsafe: { hash: safe.blockHash }, safe: { hash: safe.blockHash } })
})

it('engine/engineHttp: an invalid block is not named', async () => {
  await using half = await opened()
  const [first] = await blocksOf(openExecution(chain), 1)
  if (!first) expect.fail('no block')
  const wrong = { ...first, gasUsed: 1n }
  const invalid = { ...wrong, blockHash: hashHeader(headerOfPayload(schedule, wrong)) }
  await expect(half.engine.nameHead(invalid)).rejects.toEqual(refused)
  expect((await half.execution.heads()).unsafe.number).toBe(0)
})

it('engine/engineHttp: reads the name of the client', async () => {
  await using half = await opened()
  expect(await half.engine.clientName()).toBe('basalt')
})
