import { afterAll, describe, expect, it } from 'vitest'
import { readRecordedChain } from '#devnet/recordedChain'
import { fromHex, toHex } from './hex.ts'
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

  it('returns the recorded values, also for wrong blobs, without blocking the calling thread', async () => {
    // CPU time of this thread, so other processes on the machine do not count
    const cpuMs = (): number => (process.threadCpuUsage().user + process.threadCpuUsage().system) / 1_000
    let longestMs = 0
    let lastMs = cpuMs()
    let isOver = false
    const beat = (): void => {
      longestMs = Math.max(longestMs, cpuMs() - lastMs)
      lastMs = cpuMs()
      if (!isOver) setImmediate(beat)
    }
    beat()
    const wrong = blob.slice()
    wrong[40] = (wrong[40] ?? 0) ^ 1
    const [hashOf, isRight, isWrong, none] = await Promise.all([
      thread.hashOf(blob),
      thread.verifyProof(blob, commitment, proof),
      thread.verifyProof(wrong, commitment, proof),
      thread.hashOf(new Uint8Array(131_072).fill(0xff)),
    ])
    isOver = true
    expect(hashOf && toHex(hashOf)).toBe(hash)
    expect([isRight, isWrong, none]).toEqual([true, false, undefined])
    // on the thread that runs it, the setup takes two seconds
    expect(longestMs).toBeLessThan(50)
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

  it('repeats pending requests in a new thread when the thread dies', async () => {
    const answer = thread.verifyProof(blob, commitment, proof)
    await thread.kill()
    expect(await answer).toBe(true)
  }, 120_000)

  it('a closed thread rejects pending and later requests', async () => {
    const other = new KzgThread()
    const answer = other.hashOf(blob).catch((error: unknown) => error)
    await other[Symbol.asyncDispose]()
    expect(await answer).toMatchObject({ message: 'the KZG thread is closed' })
    await expect(other.hashOf(blob)).rejects.toThrow('the KZG thread is closed')
  }, 120_000)
})
