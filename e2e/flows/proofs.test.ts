import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, it } from 'vitest'
import { startDevnet } from '../../src/devnet/startDevnet.ts'

const dir = mkdtempSync(join(tmpdir(), 'basalt-proofs-'))
afterAll(() => rmSync(dir, { recursive: true }))
const run = promisify(execFile)
const basalt = async (...args: string[]): Promise<string> => (await run(process.execPath, ['bin/basalt.js', ...args])).stdout

/** Gives the name `basalt/proof` to the source, as the package does to the build. */
const asPackage = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  const source = ${JSON.stringify(new URL('../../src/proofVerifier/proof.ts', import.meta.url).href)}
  registerHooks({ resolve: (name, context, next) => (name === 'basalt/proof' ? { url: source, shortCircuit: true } : next(name, context)) })
`)}`

it('docs/proofs: a withdrawal is verified by the command and by the example, and one that was not sent is not found', async () => {
  await using devnet = await startDevnet()
  const { rpc, rollup, control } = devnet.urls
  const sent = JSON.parse(await basalt('devnet', 'withdraw', '--value', '1ether', '--json', '--control.port', new URL(control).port))
  const { block, withdrawalHash, storageSlot, stateRoot, outputRoot, blockHash } = sent
  const params = ['0x4200000000000000000000000000000000000016', [storageSlot], `0x${block.toString(16)}`]
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getProof', params })
  const answer = await (await fetch(rpc, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).text()
  const file = join(dir, 'proof.json')
  writeFileSync(file, answer)
  const roots = ['--state-root', stateRoot, '--output-root', outputRoot, '--block-hash', blockHash]
  expect(JSON.parse(await basalt('proof', 'verify', '--proof', file, '--slots', storageSlot, ...roots, '--json'))).toMatchObject({
    ...{ valid: true, outputRoot, slots: [{ key: storageSlot, value: '0x1' }] },
  })

  const env = { ...process.env, BASALT_RPC: rpc, BASALT_ROLLUP: rollup }
  const example = async (hash: string): Promise<string> =>
    (await run(process.execPath, ['--import', asPackage, 'examples/verifyProof.mjs', String(block), hash], { env })).stdout
  expect(await example(withdrawalHash)).toBe(`output root ${outputRoot}: the withdrawal was sent\n`)
  expect(await example(`0x${'12'.repeat(32)}`)).toBe(`output root ${outputRoot}: the withdrawal was not sent\n`)
}, 90_000)
