import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '#test/deploy/rules'

const isMissing = (program: string): boolean => spawnSync(program, ['--version']).error !== undefined

it('deploy/systemd: systemd-analyze accepts the unit and rates its sandbox', (context) => {
  context.skip(isMissing('systemd-analyze'), 'systemd-analyze is not installed (Debian package systemd)')
  const folder = mkdtempSync(join(tmpdir(), 'basalt-unit-'))
  try {
    const unit = readFileSync(join(root, 'deploy/systemd/basalt@.service'), 'utf8')
    const file = join(folder, 'basalt@all.service')
    // a program and a user of this machine
    writeFileSync(file, unit.replace('/usr/bin/basalt ', '/bin/true ').replaceAll(/^(?:User|Group)=.*$/gm, ''))
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
    expect(`${status} ${stdout}${stderr}`).toBe('0 ')
    writeFileSync(file, unit)
    const rated = spawnSync('systemd-analyze', ['security', '--offline=yes', '--threshold=20', file], { encoding: 'utf8' })
    expect([rated.status, rated.stdout.match(/Overall exposure level.*/)?.[0]]).toEqual([0, expect.stringContaining('OK')])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

it.for(['mainnet', 'sepolia'])('deploy/kubernetes: kubectl builds %s', (overlay, context) => {
  context.skip(isMissing('kubectl'), 'kubectl is not installed')
  const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', join(root, 'deploy/kubernetes', overlay)], { encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])
  expect(stdout.match(/^kind: \w+/gm)?.sort()).toEqual(
    ['ConfigMap', 'NetworkPolicy', 'PodDisruptionBudget', 'Service', 'Service', 'StatefulSet'].map((kind) => `kind: ${kind}`),
  )
  expect(stdout).toContain(`BASALT_NETWORK: ${overlay === 'mainnet' ? 'base' : 'base-sepolia'}`)
})
