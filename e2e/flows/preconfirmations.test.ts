import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Devnet, startDevnet } from '../../src/devnet/startDevnet.ts'

const run = promisify(execFile)

/** A separate devnet, because an example pauses the sequencer; before Denim, which ends flashblocks. */
let devnet: Devnet
beforeAll(async () => {
  devnet = await startDevnet({ fork: 'cobalt' })
})
afterAll(() => devnet[Symbol.asyncDispose]())

/** Returns the output of an example, by line. */
async function example(name: string): Promise<readonly string[]> {
  const { verifier, verifierWs, control } = devnet.urls
  const env = { ...process.env, BASALT_RPC: verifier, BASALT_WS: verifierWs, BASALT_CONTROL: control }
  const { stdout } = await run(process.execPath, [`examples/${name}.mjs`], { env, timeout: 45_000 })
  return stdout.trim().split('\n')
}

it('examples/waitForPreconfirmation: has the receipt before the block, and the nonce in pending', async () => {
  const lines = await example('waitForPreconfirmation')
  expect(lines).toEqual([
    expect.stringMatching(/^preconfirmed in block \d+ after \d+ ms$/),
    expect.stringMatching(/^nonce (\d+) in pending, (\d+) in latest$/),
    expect.stringMatching(/^sealed in block \d+ \(0x[0-9a-f]{64}\) after \d+ ms$/),
  ])
})

it('examples/watchPendingLogs: receives a log while its block is under construction', async () => {
  expect(await example('watchPendingLogs')).toEqual([
    expect.stringMatching(/^log preconfirmed: block \d+, transaction 0x[0-9a-f]{64}, data 0x/),
  ])
})

it('examples/droppedPreconfirmation: reports a dropped transaction, which is in a later block', async () => {
  const lines = await example('droppedPreconfirmation')
  const states = lines.map((line) => line.split(' ')[1])
  // the sequencer makes the missed blocks at once: a polling client may not see their pending state
  expect(states.join(' ')).toMatch(/^preconfirmed dropped (preconfirmed )?sealed block$/)
  expect(lines.at(-1)).toMatch(/^in block \d+, success$/)
})
