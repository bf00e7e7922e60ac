// A click on the `<img>` of an image with a caption selects the complete node.
import type { NodeType } from 'prosemirror-model';
import { NodeSelection, Plugin } from 'prosemirror-state';

export function selectImages(type: NodeType): Plugin {
  return new Plugin({
    props: {
      handleClickOn: (view, _pos, node, nodePos, event) => {
        if (node.type !== type || !(event.target instanceof HTMLImageElement)) return false;
        view.dispatch(view.state.tr.setSelection(NodeSelection.create(view.state.doc, nodePos)));
        return true;
      },
    },
  });
}
