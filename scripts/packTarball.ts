import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { root, runNode } from './process.ts'

/** Builds the package and packs it as npm would publish it. @returns the path of the tarball in `folder` */
export function packTarball(folder: string): string {
  if (runNode('scripts/build.ts', []) !== 0) throw new Error('the build fails')
  const packed = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], { cwd: root, encoding: 'utf8' })
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }]
  return join(folder, filename)
}
