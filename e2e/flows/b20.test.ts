import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { startDevnet } from '../../src/devnet/startDevnet.ts'

it('examples/b20: creates a token with viem, restricts its receivers, transfers and reads it', async () => {
  await using devnet = await startDevnet()
  const { verifier, verifierWs, control } = devnet.urls
  const env = { ...process.env, BASALT_RPC: verifier, BASALT_WS: verifierWs, BASALT_CONTROL: control }
  const { stdout } = await promisify(execFile)(process.execPath, ['examples/b20.mjs'], { env, timeout: 60_000 })
  const [asset, policy, token, receivers, refused, facts, ...balances] = stdout.trim().split('\n')
  expect([asset, policy]).toEqual(['feature base.b20_asset is active', 'feature base.policy_registry is active'])
  expect(token).toMatch(/^token 0xb200000000000000000000[0-9a-f]{18} in block \d+$/i)
  // an allowlist: type 1 in the highest byte
  expect(receivers).toMatch(/^receivers need policy 720575940379279\d\d$/)
  expect(refused).toBe('a transfer to a stranger: PolicyForbids')
  expect(facts).toBe('Gold (GLD), 8 decimals, supply 100')
  expect(balances.map((line) => line.split(': ')[1])).toEqual(['98.5', '1.5', '0'])
}, 90_000)
