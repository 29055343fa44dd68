import { afterAll, describe, expect, it } from 'vitest'
import { readRecordedChain } from '#devnet/recordedChain'
import { watchTurns } from '#test/harness/threadTime'
import { fromHex, toHex } from '../hex.ts'
import { KzgThread } from './kzgThread.ts'

const [entry = expect.fail()] = Object.entries(readRecordedChain().l1.blobs)
const [hash, recorded] = entry
const blob = fromHex(`0x${recorded.data.slice(2).padEnd(2 * 131_072, '0')}`)
const commitment = fromHex(recorded.commitment)
const proof = fromHex(recorded.proof)

describe('lib/kzgThread', () => {
  const thread = new KzgThread()
  thread.warmUp()
  afterAll(() => thread[Symbol.asyncDispose]())

  it('repeats pending requests in a new thread when the thread dies, without blocking the calling thread', async () => {
    const turns = watchTurns()
    const answer = thread.verifyProof(blob, commitment, proof)
    // before the setup of the first thread begins: native code cannot be ended
    await thread.kill()
    expect(await answer).toBe(true)
    // on the thread that runs it, the setup takes two seconds
    expect(turns.longestMs()).toBeLessThan(50)
  }, 120_000)

  it('returns the recorded values, also for wrong blobs, without blocking the calling thread', async () => {
    const turns = watchTurns()
    const wrong = blob.slice()
    wrong[40] = (wrong[40] ?? 0) ^ 1
    const [hashOf, isRight, isWrong, none] = await Promise.all([
      thread.hashOf(blob),
      thread.verifyProof(blob, commitment, proof),
      thread.verifyProof(wrong, commitment, proof),
      thread.hashOf(new Uint8Array(131_072).fill(0xff)),
    ])
    expect(turns.longestMs()).toBeLessThan(50)
    expect(hashOf && toHex(hashOf)).toBe(hash)
    expect([isRight, isWrong, none]).toEqual([true, false, undefined])
  }, 120_000)

  it('computes the recorded blob proof and 128 cell proofs, and rejects input that is not a blob', async () => {
    const proved = await thread.prove(blob, 'blobs')
    expect([toHex(proved.commitment), proved.proofs.map(toHex)]).toEqual([recorded.commitment, [recorded.proof]])
    const cells = await thread.prove(blob, 'cells')
    expect([toHex(cells.commitment), cells.proofs.length, new Set(cells.proofs.map(({ length }) => length))]).toEqual([
      recorded.commitment,
      128,
      new Set([48]),
    ])
    await expect(thread.prove(new Uint8Array(131_072).fill(0xff), 'blobs')).rejects.toThrow(RangeError)
  }, 120_000)

  it('a closed thread rejects pending and later requests', async () => {
    const answer = thread.hashOf(blob).catch((error: unknown) => error)
    await thread[Symbol.asyncDispose]()
    expect(await answer).toMatchObject({ message: 'the KZG thread is closed' })
    await expect(thread.hashOf(blob)).rejects.toThrow('the KZG thread is closed')
  }, 120_000)
})
