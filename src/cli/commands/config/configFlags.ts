import { inGroup, onOff, text, url } from '../../flagSpec.ts'

export const configFlags = inGroup('Output', {
  'config.out': text(
    {
      word: 'out',
      doc: 'new env file that `basalt config migrate` writes, with its secrets, readable by its owner only; it must not exist',
    },
    'FILE',
  ),
  'version.check': onOff({
    word: 'check',
    doc: 'compare the version with the newest one of --release.index; exit code 1: there is a newer one',
  }),
  'release.index': url(
    { doc: 'index.json of the releases, JSON with the newest version under latest, for basalt version --check', secret: true },
    ['http', 'https'],
  ),
})
