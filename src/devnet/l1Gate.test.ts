import { expect, it } from 'vitest'
import { createL1Gate } from './l1Gate.ts'

const l1 = 'http://127.0.0.1:8545/'

/** Responds at once, except to `/slow`, to which it never responds. */
const inner: typeof fetch = async (input, init) => {
  if (!String(input).endsWith('/slow')) return new Response(`of ${input}`)
  return new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)))
}

it('devnet/l1Gate: while it is shut, L1 is unreachable and other URLs are reachable', async () => {
  const gate = createL1Gate(inner, [l1])
  expect(await (await gate.fetch(l1)).text()).toBe(`of ${l1}`)
  gate.shut()
  gate.shut()
  await expect(gate.fetch(`${l1}eth/v1/beacon/genesis`)).rejects.toThrow(TypeError)
  await expect(gate.fetch(new Request(l1))).rejects.toThrow('fetch failed')
  expect((await gate.fetch('http://127.0.0.1:9545/')).ok).toBe(true)
  gate.open()
  expect((await gate.fetch(new URL(l1))).ok).toBe(true)
})

it("devnet/l1Gate: aborts pending requests too; a caller's abort keeps its own reason", async () => {
  const gate = createL1Gate(inner, [l1])
  const caller = new AbortController()
  const cut = gate.fetch(`${l1}slow`)
  const given = gate.fetch(`${l1}slow`, { signal: caller.signal })
  caller.abort(new Error('too slow'))
  await expect(given).rejects.toThrow('too slow')
  gate.shut()
  await expect(cut).rejects.toThrow('fetch failed')
})
